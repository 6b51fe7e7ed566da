/**
 * Secrets from every source, in a running group. The test queries and changes the group, sends requests that
 * are denied, and kills an agent. No secret may appear in any output.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { settingMeta } from '../../src/config/setting.js';
import { allSettings } from '../../src/config/settings.js';
import { readAcls } from '../../src/group/access.js';
import { secretVariables } from '../../src/hooks/secret-variables.js';
import { groupPaths } from '../../src/model/paths.js';
import { digestIdentity } from '../../src/zookeeper/digest.js';
import { connect } from '../support/agent-group.js';
import { type PetrelProcess, runProcess, startProcess } from '../support/agents.js';
import { makeCertificate } from '../support/certificates.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { canary, secrets } from '../support/secrets.js';
import { until } from '../support/until.js';

const { agents, operators } = secrets.zooKeeper;
/** A secret that is not Petrel's own. Petrel passes it on to the workload. */
const collectorKey = 'the-collectors-key-83bX';
const root = uniqueRoot('secrets');
const paths = groupPaths(root);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'petrel-secrets-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

async function common(): Promise<Record<string, string>> {
  return {
    PETREL_ZOOKEEPER: await sharedZooKeeper(),
    PETREL_ROOT: root,
    PETREL_ACL_AGENTS: digestIdentity(agents).id,
    PETREL_ACL_OPERATORS: digestIdentity(operators).id,
    PETREL_SESSION_TIMEOUT: '9s',
    PETREL_LOG_LEVEL: 'trace',
  };
}

/**
 * Starts two agents: one reads its secrets from files, the other from its environment. Their hooks record
 * their environment.
 */
async function startAgents(): Promise<PetrelProcess[]> {
  const env = {
    ...(await common()),
    PETREL_LISTEN: '127.0.0.1:0',
    PETREL_PROBE_LISTEN: '127.0.0.1:0',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${collectorKey}`,
    PETREL_ON_TAKEOVER: `env >${directory}/env-$PETREL_NODE; sleep 600 &`,
    PETREL_HEALTH_CHECK: `env >${directory}/env-health-$PETREL_NODE`,
    PETREL_SCORES: `load=env >${directory}/env-score-$PETREL_NODE; echo 1`,
  };
  const byFiles = {
    PETREL_AUTH_FILE: write('auth', `digest:${agents}\n`),
    PETREL_HTTP_TOKEN_FILE: write('token', `${secrets.httpToken}\n`),
    PETREL_PROBE_SECRET: '',
    PETREL_PROBE_SECRET_FILE: write('probe', `${secrets.probe}\n`),
  };
  const byEnvironment = { PETREL_AUTH: `digest:${agents}` };
  return [
    await startProcess(['agent'], { ...env, ...byEnvironment, PETREL_NODE_ID: 'a1' }),
    await startProcess(['agent'], { ...env, ...byFiles, PETREL_NODE_ID: 'b1' }),
  ];
}

/** Returns a reason that a shell would execute, if the text ever reached one. */
function reason(): string {
  return `$(touch ${directory}/run) \`touch ${directory}/run\`; touch ${directory}/run`;
}

/** Outputs that must not contain a secret, by the source of the output. */
const outputs = new Map<string, string>();

async function command(args: readonly string[], env: Record<string, string>): Promise<number | null> {
  const { code, stdout, stderr } = await runProcess(args, { ...(await common()), ...env });
  outputs.set(`petrel ${args.join(' ')}: ${outputs.size}`, stdout + stderr);
  return code;
}

async function call(url: string, given: string): Promise<number> {
  const headers = { authorization: `Bearer ${given}`, 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: '{"reason": "a test", "dryRun": true}' });
  outputs.set(
    `POST ${url} ${answer.status}`,
    `${JSON.stringify([...answer.headers])} ${await answer.text()}`,
  );
  return answer.status;
}

async function commands(): Promise<void> {
  const cert = await makeCertificate(directory, 'client');
  const encrypted = join(directory, 'encrypted.pem');
  const out = ['-passout', `pass:${secrets.passphrase}`, '-out', encrypted];
  execFileSync('openssl', ['pkcs8', '-topk8', '-in', cert.keyPath, ...out]);
  const tls = { PETREL_TLS_CERT: cert.certificatePath, PETREL_TLS_KEY: encrypted };
  const auth = { PETREL_AUTH: `digest:${operators}` };
  expect(await command(['switchover', '--yes', '--reason', reason()], auth)).toBe(0);
  expect(await command(['resume'], { PETREL_AUTH: `digest:${operators}-guessed` })).toBe(4);
  expect(await command(['list'], { PETREL_AUTH: canary })).toBe(2);
  expect(await command(['list', `--auth=digest:${operators}`], {})).toBe(2);
  expect(await command(['list'], { ...auth, ...tls, PETREL_TLS_PASSPHRASE: `${canary}-wrong` })).toBe(2);
  expect(
    await command(['agent', '--dry-run', '-f', 'json'], {
      ...auth,
      ...tls,
      PETREL_TLS_PASSPHRASE: secrets.passphrase,
    }),
  ).toBe(0);
}

/** Returns the command lines of all processes. Every user of the machine can read them. */
function commandLines(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    })
    .join('\n');
}

async function znodes(): Promise<string> {
  const auth = [{ scheme: 'digest', credentials: agents }] as const;
  const store = connect(await sharedZooKeeper(), 6000, undefined, { auth });
  try {
    await store.connected();
    const all = await readAcls(store, paths, null);
    const data = await Promise.all(all.map(async ({ path }) => (await store.getData(path)).data.toString()));
    expect(all.length).toBeGreaterThan(8);
    return [...data, JSON.stringify(all.map(({ path, acl: its }) => ({ path, its })))].join('\n');
  } finally {
    await store.close();
  }
}

function filesOf(
  stateDir: string,
): { readonly path: string; readonly mode: string; readonly text: string }[] {
  return readdirSync(stateDir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(stateDir, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => ({
      path,
      mode: (statSync(path).mode & 0o777).toString(8),
      text: readFileSync(path, 'latin1'),
    }));
}

it('no secret is in anything that a group or a command prints or writes', async () => {
  const started = await startAgents();
  await using first = started[0];
  await using second = started[1];
  if (first === undefined || second === undefined) throw new Error('two agents were expected');
  await until(() => [first, second].some(({ log }) => log.some(({ msg }) => /^READY|leads/.test(msg))));
  const urls = await Promise.all(
    started.map(async (one) => String((await one.logged(/^HTTP server listening on/)).url)),
  );
  for (const url of urls) {
    expect(await call(`${url}/pause`, secrets.httpToken)).toBe(200);
    expect(await call(`${url}/pause`, `${secrets.httpToken}-guessed`)).toBe(401);
  }
  await commands();
  outputs.set('command lines', commandLines());
  expect(outputs.get('command lines')).toContain('main.js');
  first.signal('SIGKILL');
  await first.logged(/^joined/, { after: first.log.length });
  outputs.set('znodes', await znodes());
  for (const one of started) {
    for (const { path, mode, text } of filesOf(one.stateDir)) {
      expect({ path, mode }).toEqual({ path, mode: '600' });
      outputs.set(path, text);
    }
    one.term();
    await one.exited;
    outputs.set(`log of ${one.pid}`, one.stdout + one.stderr);
    expect(one.stderr).not.toContain(collectorKey);
  }
  for (const name of readdirSync(directory).filter((one) => one.startsWith('env-'))) {
    outputs.set(name, readFileSync(join(directory, name), 'utf8'));
  }
  const hooks = [...outputs].filter(([what]) => /^env-.1$/.test(what)).map(([, text]) => text);
  expect(hooks.some((text) => text.includes(reason()))).toBe(true);
  expect(existsSync(join(directory, 'run'))).toBe(false);
  expect([...outputs.keys()].filter((what) => what.startsWith('env-')).length).toBeGreaterThanOrEqual(5);
  expect([...outputs].filter(([, text]) => text.length > 20).length).toBeGreaterThan(15);
  expect([...outputs].filter(([, text]) => text.includes(canary)).map(([what]) => what)).toEqual([]);
});

it('every variable that holds a secret is kept from hooks', () => {
  const metas = Object.values(allSettings.shape).flatMap((schema) => settingMeta.get(schema) ?? []);
  const secret = metas.filter((meta) => meta.secret === true);
  expect(secret.map(({ env }) => env).toSorted()).toEqual([...secretVariables].toSorted());
  expect(secret.filter(({ flags }) => flags !== undefined)).toEqual([]);
});
