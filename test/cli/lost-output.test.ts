/** Fault V3 (docs/reports/faults.md): a command whose verdict cannot be written keeps its exit code. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newGroup, type TestGroup } from '../support/group.js';
import { oncePerRun } from '../support/once-per-run.js';
import { freePorts } from '../support/ports.js';

let group: TestGroup;
let main: string;
let refused: string;
let token: string;
beforeAll(async () => {
  main = await oncePerRun('build');
  const [port = 0] = await freePorts(1);
  refused = `-z 127.0.0.1:${port} --connect-timeout 300ms`;
  group = await newGroup();
  await group.node('a1');
  await group.node('b1', { health: { ok: false, reason: 'disk full' } });
  await group.lead('a1', 3);
  token = String((await group.store.exists(group.paths.current))?.czxid ?? 0n);
}, 300_000);
afterAll(() => group[Symbol.asyncDispose]());

/** Shell scripts that redirect both outputs of a command and print its exit code. */
const outputs = {
  'a pipe whose reader has gone': (command: string) => `exec 3>&1; { ${command} 2>&1; echo $? >&3; } | true`,
  'a full disk': (command: string) => `${command} >/dev/full 2>/dev/full; echo $?`,
  'nothing, both closed': (command: string) => `${command} >&- 2>&-; echo $?`,
};
type Output = keyof typeof outputs;

async function codeOf(output: Output, args: string): Promise<number> {
  const script = outputs[output](`"${process.execPath}" "${main}" ${args}`);
  const env = { PATH: process.env.PATH, PETREL_ZOOKEEPER: group.zookeeper, PETREL_ROOT: group.root };
  const child = promisify(execFile)('bash', ['-c', script], { env });
  return Number((await child).stdout.trim());
}

it.each<[Output, string, number]>([
  ['a pipe whose reader has gone', 'verify-token 1', 7],
  ['a pipe whose reader has gone', 'switchover --to b1', 5],
  ['a full disk', 'verify-token TOKEN', 0],
  ['a full disk', 'wait --term 2', 1],
  ['a full disk', 'simulate --lose node=a1', 5],
  ['a full disk', 'list UNREACHABLE', 3],
  ['nothing, both closed', 'verify-token 1 UNREACHABLE', 3],
])('V3 where output goes to %s, petrel %s exits with %i', async (output, args, code) => {
  expect(await codeOf(output, args.replace('UNREACHABLE', refused).replace('TOKEN', token))).toBe(code);
});

it('V3 a command that was to print, and could not, has failed; one whose reader has had enough has not', async () => {
  expect(await codeOf('a full disk', 'config show')).toBe(1);
  expect(await codeOf('a full disk', '--version')).toBe(1);
  expect(await codeOf('a pipe whose reader has gone', 'config show')).toBe(0);
});
