/**
 * A process that leads as an agent does: holds a lease that it renews, takes over, and prints what its duty tells
 * it, a JSON line each. Where a guardian has started it that is its first keeper. Arguments: the module of CommandDuty, and the commands with the lease's lengths as JSON.
 * A line on stdin asks for a release, the end of stdin for close.
 */
import { randomUUID } from 'node:crypto';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { GuardianChannel } from '../../src/guardian/channel.js';
import { guardianProcess, partFromGuardian } from '../../src/guardian/parent-process.js';
import type * as duties from '../../src/hooks/command-duty.js';
import type * as keeping from '../../src/hooks/keeper-process.js';
import { systemProcesses } from '../../src/hooks/system-processes.js';
import { createLogger } from '../../src/log.js';
import { systemClock } from '../../src/ports/clock.js';
import { context } from './duty-context.js';

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
const { CommandDuty }: typeof duties = await import(url.href);
const { systemKeepers }: typeof keeping = await import(new URL(`keeper-process${extname(module)}`, url).href);
const parent = guardianProcess();
const hello = { node: 'a1', root: '/cluster', log: 'json', codeAtDeath: 0, codeWhenAsked: 'done' } as const;
const guardian = parent === null ? null : new GuardianChannel(parent, hello);
const duty = new CommandDuty({
  commands: { onPrepare: null, onFence: null, ...commands },
  node: 'a1',
  root: '/cluster',
  foreground,
  life: randomUUID(),
  log: createLogger({ level: 'silent', format: 'json' }),
  clock: systemClock,
  processes: systemProcesses,
  keepers: guardian?.keepers(systemKeepers) ?? systemKeepers,
});

function say(line: object): void {
  process.stdout.write(`${JSON.stringify({ ...line, atMs: systemClock.monotonicMs() })}\n`);
}

const release = context('release', { graceMs: 300 });
function renew(): void {
  const now = systemClock.monotonicMs();
  duty.holdLease({ releaseAtMs: now + releaseInMs, endsAtMs: now + endsInMs }, release);
}

renew();
const renewals = setInterval(renew, 50);
duty.onEnd((end) => {
  clearInterval(renewals);
  say(end);
});
void duty
  .run(context('takeover', { timeoutMs: 60_000 }))
  .outcome.then((outcome) => say({ takeover: outcome }));

const input = createInterface({ input: process.stdin });
input.on('line', async () => say({ release: await duty.run(release).outcome }));
input.on('close', async () => {
  clearInterval(renewals);
  await duty.close();
  say({ closed: true });
  await partFromGuardian(0);
});
