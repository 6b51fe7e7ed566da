/**
 * Signals to `petrel dev`: one, two and many, at every stage. Each time it ends in order, and leaves nothing.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type PetrelProcess, startProcess } from '../support/agents.js';
import { processesWith } from '../support/process-list.js';
import { until } from '../support/until.js';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** Directory for temporary files of `petrel dev`. All that it starts has the path in its environment. */
let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'petrel-signals-'));
});
afterEach(() => rm(dir, { recursive: true }));

function start(...args: string[]): Promise<PetrelProcess> {
  return startProcess(['dev', '--port', '0', '--http-port', '0', ...args], { TMPDIR: dir });
}

async function says(dev: PetrelProcess, text: string): Promise<void> {
  await until(() => dev.stdout.includes(text), { timeoutMs: 60_000, intervalMs: 2, describe: text });
}

async function expectNothingLeft(): Promise<void> {
  expect(await readdir(dir)).toEqual([]);
  await until(() => processesWith(dir).length === 0, { describe: 'all that was started to be gone' });
}

/** Sends signals until the process has ended. */
async function storm(dev: PetrelProcess): Promise<void> {
  for (let n = 0; dev.running; n++) {
    process.kill(dev.pid, signals[n % signals.length]);
    await sleep(1);
  }
}

/** At the very end, Node.js removes its handlers of signals. A signal can still end the process then. */
async function expectOrder(dev: PetrelProcess): Promise<void> {
  const { code, signal } = await dev.exited;
  if (signal === null) expect(code).toBe(0);
  expect(dev.stdout).toContain('Stopping');
  await expectNothingLeft();
}

describe.each([
  ['before the agents are started', 'Development ZooKeeper'],
  ['while the group runs', 'Ctrl-C to stop everything.'],
])('petrel dev %s', (_, text) => {
  it.each(signals)('ends in order on %s', async (signal) => {
    await using dev = await start();
    await says(dev, text);
    process.kill(dev.pid, signal);
    expect(await dev.exited).toEqual({ code: 0, signal: null });
    await expectNothingLeft();
  });

  it('ends in order on two signals at once', async () => {
    await using dev = await start();
    await says(dev, text);
    for (const signal of ['SIGINT', 'SIGINT'] as const) process.kill(dev.pid, signal);
    expect(await dev.exited).toEqual({ code: 0, signal: null });
    await expectNothingLeft();
  });

  it('ends in order on signals that do not stop', async () => {
    await using dev = await start();
    await says(dev, text);
    await storm(dev);
    await expectOrder(dev);
  });
});

describe('petrel dev', () => {
  it('leaves nothing after signals from its first moment on', async () => {
    await using dev = await start();
    await storm(dev);
    await expectNothingLeft();
  });

  it('ends in order on signals that begin when it is stopping', async () => {
    await using dev = await start();
    await says(dev, 'Ctrl-C to stop everything.');
    dev.term();
    await says(dev, 'Stopping');
    await storm(dev);
    await expectOrder(dev);
  });

  it('ends in order on signals in the middle of a rehearsal', async () => {
    await using dev = await start('--crash', 'takeover-started');
    await says(dev, 'crash point reached');
    await storm(dev);
    await expectOrder(dev);
  });
});
