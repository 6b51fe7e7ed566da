/**
 * Settings of commands and nodes. Each setting is declared once, with its key in the file, its flag and its
 * environment variable. Settings that a whole group shares are in the group's configuration instead.
 */
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { commandSchema } from '../hooks/command.js';
import { logFormats, logLevels } from '../log.js';
import { durationInMs } from '../model/duration.js';
import { nameSchema } from '../model/names.js';
import { quoted, UnusableKey, usableKey } from '../model/outside.js';
import { rootSchema } from '../model/paths.js';
import { scoreSourcesSchema } from '../scores/source.js';
import { parseConnectionString } from '../zookeeper/connection-string.js';
import { accessFields } from './access-settings.js';
import { httpFields } from './http-settings.js';
import { probeFields } from './probe-settings.js';
import { optionalPath, parsedBy, setting } from './setting.js';

const servers = parsedBy(parseConnectionString, 'expected a list of servers: host:port,host:port');

/** Settings that every command has. */
export const commonSettings = z.object({
  zookeeper: setting(servers.prefault('127.0.0.1:2181'), {
    key: 'zookeeper',
    flags: '-z, --zookeeper <hosts>',
    env: 'PETREL_ZOOKEEPER',
    help: 'ZooKeeper servers, as host:port,host:port[/chroot]',
  }),
  root: setting(rootSchema.prefault('/cluster'), {
    key: 'root',
    flags: '-r, --root <path>',
    env: 'PETREL_ROOT',
    help: 'root path of the group in ZooKeeper',
  }),
  ...accessFields,
  strategies: setting(
    z.array(z.string('expected a path or the name of a package').min(1)).max(20).prefault([]),
    {
      key: 'strategies',
      flags: '--strategy-module <module...>',
      env: 'PETREL_STRATEGIES',
      help: 'custom strategies: paths of ES modules (starting with / or ./) or names of packages; in the variable, separated by commas',
      fromText: (texts) => texts,
      separator: ',',
      isPath: true,
    },
  ),
  constraints: setting(
    z.array(z.string('expected a path or the name of a package').min(1)).max(20).prefault([]),
    {
      key: 'constraints',
      flags: '--constraint-module <module...>',
      env: 'PETREL_CONSTRAINTS',
      help: 'custom constraints: paths of ES modules (starting with / or ./) or names of packages; in the variable, separated by commas',
      fromText: (texts) => texts,
      separator: ',',
      isPath: true,
    },
  ),
  tlsCa: setting(optionalPath(), {
    key: 'tls.ca',
    flags: '--tls-ca <file>',
    env: 'PETREL_TLS_CA',
    help: 'connect to ZooKeeper with TLS and trust the certificates in this PEM file',
    isPath: true,
    isFile: true,
  }),
  tlsCert: setting(optionalPath(), {
    key: 'tls.cert',
    flags: '--tls-cert <file>',
    env: 'PETREL_TLS_CERT',
    help: 'client certificate (PEM file)',
    isPath: true,
    isFile: true,
  }),
  tlsKey: setting(optionalPath(), {
    key: 'tls.key',
    flags: '--tls-key <file>',
    env: 'PETREL_TLS_KEY',
    help: 'key of the client certificate (PEM file)',
    isPath: true,
    isFile: true,
  }),
  tlsPassphrase: setting(
    z
      .string('expected a string')
      .regex(/^[^\r\n]*$/, 'expected one line')
      .nullable()
      .prefault(null),
    {
      key: 'tls.passphrase',
      env: 'PETREL_TLS_PASSPHRASE',
      help: 'passphrase for the key, instead of tls.passphraseFile',
      secret: true,
    },
  ),
  tlsPassphraseFile: setting(optionalPath(), {
    key: 'tls.passphraseFile',
    flags: '--tls-passphrase-file <file>',
    env: 'PETREL_TLS_PASSPHRASE_FILE',
    help: 'file with the passphrase of the key; mode 0600',
    isPath: true,
    isFile: true,
  }),
  tlsServername: setting(
    z.string('expected a host name').min(1, 'expected a host name').nullable().prefault(null),
    {
      key: 'tls.servername',
      flags: '--tls-servername <name>',
      env: 'PETREL_TLS_SERVERNAME',
      help: 'name expected in the servers’ certificates, if it is not the host name',
    },
  ),
  logLevel: setting(z.enum(logLevels, `expected one of ${logLevels.join(', ')}`).prefault('info'), {
    key: 'logLevel',
    flags: '--log-level <level>',
    env: 'PETREL_LOG_LEVEL',
    help: `lowest level to log: ${logLevels.join(', ')}`,
  }),
  logFormat: setting(z.enum(logFormats, `expected one of ${logFormats.join(', ')}`).prefault('auto'), {
    key: 'logFormat',
    flags: '--log-format <format>',
    env: 'PETREL_LOG_FORMAT',
    help: 'log format: json, pretty, or auto (pretty on a terminal, json otherwise)',
  }),
});

/** Settings for connecting and authenticating to an ensemble. */
export const reachSettings = commonSettings.pick({
  zookeeper: true,
  auth: true,
  authFile: true,
  tlsCa: true,
  tlsCert: true,
  tlsKey: true,
  tlsPassphrase: true,
  tlsPassphraseFile: true,
  tlsServername: true,
});

/** Settings of a node. They apply to its only group, or to each of its groups. */
export const nodeSettings = commonSettings.extend({
  nodeId: setting(nameSchema.prefault(hostname), {
    key: 'nodeId',
    flags: '--node-id <id>',
    env: 'PETREL_NODE_ID',
    help: 'id of this node, unique in the group',
    defaultText: 'the host name',
  }),
  site: setting(nameSchema.prefault('default'), {
    key: 'site',
    flags: '--site <name>',
    env: 'PETREL_SITE',
    help: 'site that this node is in',
  }),
  priority: setting(
    z
      .int('expected a whole number')
      .min(0, 'expected at least 0')
      .max(1_000_000, 'expected at most 1000000')
      .prefault(100),
    {
      key: 'priority',
      flags: '--priority <n>',
      env: 'PETREL_PRIORITY',
      help: 'priority of this node in its site, 0 to 1000000; higher is better',
      fromText: wholeNumber,
    },
  ),
  sessionTimeoutMs: setting(durationInMs({ minMs: 500, maxMs: 3_600_000 }).prefault('6s'), {
    key: 'sessionTimeout',
    flags: '--session-timeout <duration>',
    env: 'PETREL_SESSION_TIMEOUT',
    help: 'session timeout to request from ZooKeeper; a lost leader is detected within this time',
  }),
  stateDir: setting(
    z
      .string('expected a path')
      .min(1, 'expected a path')
      .prefault(() => join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'petrel')),
    {
      key: 'stateDir',
      flags: '--state-dir <dir>',
      env: 'PETREL_STATE_DIR',
      help: 'directory for the state that this node needs after a restart',
      defaultText: '$XDG_STATE_HOME/petrel',
      isPath: true,
    },
  ),
  tags: setting(
    z
      .record(
        z
          .string()
          .regex(
            /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/,
            'expected a tag name of at most 63 letters, digits, or . _ / -',
          ),
        z
          .union([z.string(), z.number(), z.boolean()], 'expected a string as the value of a tag')
          .transform(String)
          .pipe(z.string().max(256, 'expected a tag value of at most 256 characters')),
        'expected tags as names with values',
      )
      .prefault({}),
    {
      key: 'tags',
      flags: '--tag <name=value...>',
      env: 'PETREL_TAGS',
      help: 'tags of this node, for strategies and operators; in the variable, separated by commas',
      fromText: tagsFrom,
      separator: ',',
    },
  ),
  scores: setting(scoreSourcesSchema.prefault({}), {
    key: 'scores',
    flags: '--score <name=command...>',
    env: 'PETREL_SCORES',
    help: 'scores of this node, for strategies that compare nodes: a name and a command that prints one number, or a JSON object as in the settings file; in the variable, separated by line breaks',
    fromText: scoresFrom,
    separator: '\n',
  }),
  ...probeFields,
  onTakeover: hook('onTakeover', 'hook that runs when this node takes over'),
  onRelease: hook('onRelease', 'hook that runs when this node stops leading'),
  onFence: hook('onFence', 'hook that fences a leader that does not respond'),
  onPrepare: hook('onPrepare', 'hook that runs when this node is elected, while the old leader still leads'),
  healthCheck: hook(
    'healthCheck',
    'health check that runs at an interval: exit code 0 means healthy; an unhealthy node is not elected',
  ),
  healthCheckIntervalMs: setting(durationInMs({ minMs: 100 }).prefault('5s'), {
    key: 'hooks.healthCheckInterval',
    flags: '--health-check-interval <duration>',
    env: 'PETREL_HEALTH_CHECK_INTERVAL',
    help: 'interval between health checks',
  }),
  healthCheckTimeoutMs: setting(durationInMs({ minMs: 100 }).prefault('3s'), {
    key: 'hooks.healthCheckTimeout',
    flags: '--health-check-timeout <duration>',
    env: 'PETREL_HEALTH_CHECK_TIMEOUT',
    help: 'timeout of a health check; a check that takes longer fails',
  }),
  healthCheckFailures: setting(
    z
      .int('expected a whole number')
      .min(1, 'expected at least 1')
      .max(1000, 'expected at most 1000')
      .prefault(3),
    {
      key: 'hooks.healthCheckFailures',
      flags: '--health-check-failures <n>',
      env: 'PETREL_HEALTH_CHECK_FAILURES',
      help: 'number of failed checks in a row after which the node is unhealthy',
      fromText: wholeNumber,
    },
  ),
  ...httpFields,
});

export type GroupFields = typeof nodeSettings.shape;

function hook(name: string, help: string) {
  const kebab = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return setting(commandSchema.nullable().prefault(null), {
    key: `hooks.${name}`,
    flags: `--${kebab} <command>`,
    env: `PETREL_${kebab.replaceAll('-', '_').toUpperCase()}`,
    help: `${help}: a shell command, or a JSON list of program and arguments`,
    fromText: commandFrom,
  });
}

/** Parses a whole number. If a flag is repeated, its last value counts. */
export function wholeNumber(texts: readonly string[]): unknown {
  const text = texts.at(-1) ?? '';
  return /^-?\d+$/.test(text) ? Number(text) : text;
}

function commandFrom(texts: readonly string[]): unknown {
  const text = texts.at(-1) ?? '';
  if (!text.trimStart().startsWith('[')) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('starts with [ but is not a JSON list, such as ["/usr/bin/promote", "--now"]');
  }
}

function scoresFrom(texts: readonly string[]): unknown {
  const sources = texts.filter((text) => text.trim() !== '');
  return Object.fromEntries(
    sources.flatMap((text) => (text.trimStart().startsWith('{') ? jsonEntries(text) : [pairFrom(text)])),
  );
}

function jsonEntries(text: string): [string, unknown][] {
  try {
    return Object.entries(JSON.parse(text)).map(([name, value]) => [usableKey(name), value]);
  } catch (error) {
    if (error instanceof UnusableKey) throw error;
    throw new Error(
      'starts with { but is not a JSON object, such as {"load": {"command": "cut -d\' \' -f1 /proc/loadavg"}}',
    );
  }
}

function pairFrom(text: string): [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1) throw new Error(`${quoted(text)} is not a score: write NAME=COMMAND`);
  return [usableKey(text.slice(0, at).trim()), commandFrom([text.slice(at + 1).trim()])];
}

function tagsFrom(texts: readonly string[]): unknown {
  const pairs = texts.filter((text) => text.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new Error(`${quoted(pair)} is not a tag: write NAME=VALUE`);
      return [usableKey(pair.slice(0, at).trim()), pair.slice(at + 1).trim()];
    }),
  );
}
