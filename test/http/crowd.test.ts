/**
 * Fault A13 (docs/reports/faults.md): many readers must not take too much time from leadership. The test
 * counts event-loop turns.
 */

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import pino from 'pino';
import { expect, it } from 'vitest';
import { EventHub, readersPerTurn } from '../../src/http/event-hub.js';
import { GroupSession } from '../../src/http/group-session.js';
import { groupPaths } from '../../src/model/paths.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { StoreError } from '../../src/ports/store.js';
import { builtInRules } from '../../strategies/index.js';
import { until } from '../support/until.js';

/** Returns a clock whose event-loop turns happen only when the test runs them. */
function steppedClock(): { readonly clock: Clock; readonly turns: (() => void)[] } {
  const turns: (() => void)[] = [];
  const turn = (fire: () => void) => {
    turns.push(fire);
    return () => {
      const at = turns.indexOf(fire);
      if (at >= 0) turns.splice(at, 1);
    };
  };
  return { clock: { ...systemClock, turn }, turns };
}

it('A13 an event for a thousand readers is written a few at a time, and others have their turn in between', async () => {
  const { clock, turns } = steppedClock();
  const log = pino({ level: 'silent' });
  const openStore = () => {
    throw new StoreError('CONNECTION_LOSS', 'out of reach');
  };
  const group = new GroupSession({ openStore, paths: groupPaths('/cluster'), rules: builtInRules, clock });
  const hub = new EventHub({ group, clock, log });
  // No client reads these responses, so all data stays in their buffers.
  const readers = Array.from({ length: 1_000 }, () => new ServerResponse(new IncomingMessage(new Socket())));
  for (const reader of readers) hub.add(reader);
  const atFirst = readers.map(({ writableLength }) => writableLength);
  const written = () =>
    readers.filter(({ writableLength }, index) => writableLength > (atFirst[index] ?? 0)).length;
  await until(() => turns.length === 1);
  expect(written()).toBe(readersPerTurn);
  for (let turn = 2; turn <= 1_000 / readersPerTurn; turn++) {
    turns.shift()?.();
    expect(written()).toBe(turn * readersPerTurn);
  }
  expect(turns).toEqual([]);
  hub.close();
});
