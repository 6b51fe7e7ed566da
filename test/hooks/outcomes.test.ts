/** Tests what the log says about the runs of commands. */
import { expect, it } from 'vitest';
import { leadershipLogOf, logOf, logOutcome, nothingRun, notRun } from '../../src/hooks/outcomes.js';
import { capturedLog } from './captured-log.js';
import { context } from './hook-context.js';

it.each([
  ['succeeded', nothingRun, 'info', 'onTakeover succeeded'],
  [
    'failed',
    { ...nothingRun, result: 'failed', exitCode: 3, error: 'onTakeover exited with code 3' },
    'warn',
    'onTakeover exited with code 3',
  ],
  [
    'ended in a way that nobody can explain',
    { ...nothingRun, result: 'failed' },
    'warn',
    'onTakeover: failed',
  ],
  ['was not started', notRun('closed'), 'warn', 'not started: closed'],
] as const)('a command that %s is logged in one line', (_, outcome, level, msg) => {
  const { log, lines } = capturedLog();
  logOutcome(log, 'onTakeover', outcome);
  const { result, exitCode, signal, durationMs, command, provenDead } = outcome;
  expect(lines).toEqual([{ level, result, exitCode, signal, durationMs, command, provenDead, msg }]);
});

it('a run of which nothing is configured has succeeded, and leaves no process', () => {
  expect(nothingRun).toMatchObject({ result: 'ok', error: null, outputTail: [], provenDead: true });
});

it('a line about a run names its phase, slot, term and reason', () => {
  const { log, lines } = capturedLog();
  logOf(log, context('fence', { slot: 2, slots: 3, reason: 'b1 is gone' })).info('a line');
  logOf(log, context('release', { term: 3, endedByTerm: 4 })).info('a line');
  logOf(log, null).info('a line');
  expect(lines).toEqual([
    { level: 'info', phase: 'fence', slot: 2, term: 3, reason: 'b1 is gone', msg: 'a line' },
    { level: 'info', phase: 'release', term: 4, reason: 'a test', endsTerm: 3, msg: 'a line' },
    { level: 'info', msg: 'a line' },
  ]);
});

it('a line about a leadership names its slot and term, and not the reason of a release that has not run', () => {
  const { log, lines } = capturedLog();
  leadershipLogOf(log, context('release', { slot: 2, slots: 3 })).info('a line');
  leadershipLogOf(log, null).info('a line');
  expect(lines).toEqual([
    { level: 'info', slot: 2, term: 3, msg: 'a line' },
    { level: 'info', msg: 'a line' },
  ]);
});
