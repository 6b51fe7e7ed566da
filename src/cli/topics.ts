/** Texts that `petrel help TOPIC` prints. Each text explains something that many commands have in common. */

import { settingMeta } from '../config/setting.js';
import { allSettings } from '../config/settings.js';

export const topics: ReadonlyMap<string, () => string> = new Map([
  ['environment', environment],
  ['exit-codes', () => exitCodeText],
  ['output', () => outputText],
  ['values', () => valueText],
  ['completion', () => completionText],
]);

function environment(): string {
  const variables = Object.values(allSettings.shape).flatMap((schema) => {
    const meta = settingMeta.get(schema);
    return meta === undefined ? [] : [{ variable: meta.env, key: meta.key, help: meta.help }];
  });
  const longest = Math.max(...variables.map(({ variable }) => variable.length));
  return [
    'Every setting has an environment variable, and a key in the settings file (-c, PETREL_CONFIG). An option overrides the variable, and the variable overrides the file.',
    '',
    ...variables.map(({ variable, key, help }) => `  ${variable.padEnd(longest)}  ${key}: ${help}`),
    '',
    'Other variables:',
    `  ${'NO_COLOR'.padEnd(longest)}  print without colours`,
    `  ${'VISUAL, EDITOR'.padEnd(longest)}  editor for petrel config edit`,
    `  ${'PETREL_FENCING_TOKEN'.padEnd(longest)}  token for petrel verify-token`,
  ].join('\n');
}

const exitCodeText = `Exit codes of all commands:
  0    done
  1    failed
  2    usage error or invalid configuration; nothing was attempted
  3    ZooKeeper is unreachable
  4    not permitted by ZooKeeper
  5    refused, with reasons; nothing was changed
  6    still in progress when the wait ended
  7    leadership lost (petrel run), or the token is not the newest (petrel verify-token)
  130  interrupted

petrel run passes the exit code of its command on, or 128 + n if signal n ended the command.`;

const outputText = `Output formats, selected with -f or PETREL_FORMAT:
  pretty  for people: fitted to the terminal, with relative times, without empty columns
  wide    like pretty, with all columns and exact times
  json    one document for each result; with --watch, one line for each
  yaml    the same content as YAML
  tsv     a table with a header line and tabs between the cells

Results go to stdout. Messages, questions and progress go to stderr. With -f json, errors are JSON too.

Colours are used only on a terminal, and not if NO_COLOR is set.`;

const valueText = `Values in options and settings:
  duration   a number with a unit: 500ms, 4s, 1.5h, 2d
  timestamp  ISO 8601 with a time zone: 2026-01-31T02:00:00Z, 2026-01-31T03:00:00+01:00
  name       of nodes, sites and flags: letters, digits, and . _ -, at most 128
  root path  of a group in ZooKeeper: absolute, without a slash at the end: /services/db
  servers    host:port,host:port, optionally followed by a chroot: zk1:2181,zk2:2181/petrel
  VALUE      in petrel config set: YAML, such as 90s, manual or "[a1, b1]"`;

const completionText = `Completion of commands, options, and the names of nodes, sites and groups. Names are read from the servers given on the command line.

Load it in the startup file of the shell:
  bash  source <(petrel completion bash)
  zsh   source <(petrel completion zsh)
  fish  petrel completion fish | source

In bash, completion requires the package bash-completion.`;
