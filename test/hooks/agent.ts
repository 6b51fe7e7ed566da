/**
 * A process that leads as an agent does. It renews its lease and takes over. It prints each report of its
 * workload as a JSON line. If a guardian started the process, the guardian is its first supervisor.
 * Arguments: the module of CommandWorkload, and JSON with the commands and the lengths of the lease. A line
 * on stdin requests a release. The end of stdin requests that the workload close.
 */
import { randomUUID } from 'node:crypto';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { GuardianChannel } from '../../src/guardian/channel.js';
import { guardianProcess, partFromGuardian } from '../../src/guardian/parent-process.js';
import type * as workloads from '../../src/hooks/command-workload.js';
import type * as keeping from '../../src/hooks/supervisor-process.js';
import { systemProcesses } from '../../src/hooks/system-processes.js';
import { createLogger } from '../../src/log.js';
import { systemClock } from '../../src/ports/clock.js';
import { context } from './hook-context.js';

const [module = '', json = ''] = process.argv.slice(2);
const { commands, releaseInMs, endsInMs, foreground } = z
  .object({
    commands: z.object({ onTakeover: z.string().nullable(), onRelease: z.string().nullable() }),
    releaseInMs: z.number(),
    endsInMs: z.number(),
    foreground: z.boolean(),
  })
  .parse(JSON.parse(json));

const url = pathToFileURL(module);
const { CommandWorkload }: typeof workloads = await import(url.href);
const { systemSupervisors }: typeof keeping = await import(
  new URL(`supervisor-process${extname(module)}`, url).href
);
const parent = guardianProcess();
const hello = { node: 'a1', root: '/cluster', log: 'json', codeAtDeath: 0, codeOnSignal: 'done' } as const;
const guardian = parent === null ? null : new GuardianChannel(parent, hello);
const workload = new CommandWorkload({
  commands: { onPrepare: null, onFence: null, ...commands },
  node: 'a1',
  root: '/cluster',
  foreground,
  incarnation: randomUUID(),
  log: createLogger({ level: 'silent', format: 'json' }),
  clock: systemClock,
  processes: systemProcesses,
  supervisors: guardian?.supervisors(systemSupervisors) ?? systemSupervisors,
});

function say(line: object): void {
  process.stdout.write(`${JSON.stringify({ ...line, atMs: systemClock.monotonicMs() })}\n`);
}

const release = context('release', { graceMs: 300 });
function renew(): void {
  const now = systemClock.monotonicMs();
  workload.holdLease({ releaseAtMs: now + releaseInMs, endsAtMs: now + endsInMs }, release);
}

renew();
const renewals = setInterval(renew, 50);
workload.onEnd((end) => {
  clearInterval(renewals);
  say(end);
});
void workload
  .run(context('takeover', { timeoutMs: 60_000 }))
  .outcome.then((outcome) => say({ takeover: outcome }));

const input = createInterface({ input: process.stdin });
input.on('line', async () => say({ release: await workload.run(release).outcome }));
input.on('close', async () => {
  clearInterval(renewals);
  await workload.close();
  say({ closed: true });
  await partFromGuardian(0);
});
