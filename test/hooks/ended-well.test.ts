/**
 * Fault T4 (docs/reports/faults.md): a command that ends successfully causes no warning. These tests involve
 * no lease.
 */
import { expect, it } from 'vitest';
import { capturedLog } from './captured-log.js';
import { context } from './hook-context.js';
import { bench, eventually, leaseIn } from './support.js';

const at = bench();

it.each([
  { command: 'exit 0', level: 'info', msg: 'the workload ended on its own, with exit code 0' },
  { command: 'exit 3', level: 'warn', msg: expect.stringContaining('exited with code 3') },
])('T4 a workload that ends by `$command` says nothing of a lease', async ({ command, level, msg }) => {
  const { log, lines } = capturedLog();
  const onTakeover: [string, ...string[]] = ['/bin/sh', '-c', `sleep 0.3; ${command}`];
  const workload = at().workload({ onTakeover }, { foreground: true, log });
  const ends: string[] = [];
  workload.onEnd(({ cause }) => ends.push(cause));
  await workload.run(context('takeover')).outcome;
  workload.holdLease(leaseIn(60_000, 70_000), context('release', { reason: 'the lease was not renewed' }));
  await eventually(() => ends).toEqual(['workload-ended']);
  expect(lines.at(-1)).toMatchObject({ level, msg });
  expect(JSON.stringify(lines)).not.toContain('the lease was not renewed');
});
