/** The guardian's messages in the agent's log, for operators and as JSON. */
import { describe, expect, it } from 'vitest';
import type { HeldSession } from '../../src/guardian/held-session.js';
import { Report } from '../../src/guardian/report.js';
import { HandClock } from '../support/hand-clock.js';

const outcome = {
  result: 'ok',
  exitCode: 0,
  signal: null,
  durationMs: 12,
  command: '/bin/stop',
  error: null,
  outputTail: [],
  provenDead: true,
} as const;
const failed = { ...outcome, result: 'failed', error: 'exit code 1' } as const;

function newReport(log: 'json' | 'pretty'): { report: Report; lines: string[] } {
  const lines: string[] = [];
  const report = new Report(new HandClock(), { write: (line) => lines.push(line) });
  report.introduce({ node: 'a1', root: '/cluster', log, codeAtDeath: null, codeOnSignal: 'done' });
  return { report, lines };
}

function held(isOver: boolean, lastProblem: string | null): Pick<HeldSession, 'isOver' | 'lastProblem'> {
  return { isOver, lastProblem };
}

describe('what a guardian reports', () => {
  const messages: readonly [what: string, say: (report: Report) => void, line: string][] = [
    [
      'a release that it ran itself',
      (report) => report.released({ type: 'lease-ended', leadership: 1, outcome, leaseLeftMs: 900 }),
      'WARN: [a1] the guardian ran the release hook and stopped the workload',
    ],
    [
      'a release that failed',
      (report) => report.released({ type: 'lease-ended', leadership: 1, outcome: failed, leaseLeftMs: 900 }),
      'ERROR: [a1] exit code 1',
    ],
    [
      'a release that left processes behind',
      (report) => {
        const alive = { ...outcome, provenDead: false, error: 'still running' };
        report.released({ type: 'lease-ended', leadership: 1, outcome: alive, leaseLeftMs: null });
      },
      'ERROR: [a1] still running',
    ],
    ['a run that failed', (report) => report.ended(failed), 'ERROR: [a1] exit code 1'],
    [
      'a session that it has ended',
      (report) => report.sessionEnded('ended', 40, 45),
      "WARN: [a1] the workload is proven dead, and the dead agent's session was ended",
    ],
    [
      'a session that was over',
      (report) => report.sessionEnded('over', 40, 45),
      "WARN: [a1] the workload is proven dead, and the dead agent's session was ended",
    ],
    [
      'a session that it could not end',
      (report) => report.sessionEnded('unconfirmed', 40, 45),
      "ERROR: [a1] cannot reach any ZooKeeper server to end the dead agent's session: the session will expire",
    ],
    [
      'processes that are still running',
      (report) => report.remains(new Map([[5_102, null]]), 25_400, null),
      'ERROR: [a1] the workload is still running 25 s after the agent died (process group 5102); ' +
        'the guardian will not start a new agent until the workload is dead',
    ],
    [
      'processes of several groups, while it holds the session',
      (report) =>
        report.remains(
          new Map([
            [5_102, '/orders'],
            [5_103, null],
          ]),
          25_000,
          held(false, null),
        ),
      'ERROR: [a1] the workload is still running 25 s after the agent died (process groups 5102 of /orders, 5103); ' +
        'the guardian keeps the session alive until the workload is dead, so that no other node leads',
    ],
    [
      'processes, while no server can be reached',
      (report) => report.remains(new Map([[5_102, null]]), 25_000, held(false, 'ECONNREFUSED')),
      'ERROR: [a1] the workload is still running 25 s after the agent died (process group 5102); ' +
        'the guardian keeps the session alive until the workload is dead, so that no other node leads (ECONNREFUSED)',
    ],
    [
      'processes that outlived the session',
      (report) => report.remains(new Map([[5_102, null]]), 25_000, held(true, 'ECONNREFUSED')),
      'ERROR: [a1] the workload is still running 25 s after the agent died (process group 5102); ' +
        'the session of the agent has expired: another node may already lead',
    ],
    [
      'a message about a group',
      (report) => report.about({ root: '/orders' }).say('info', 'two\nlines'),
      'INFO: [a1 /orders] two lines',
    ],
  ];

  it.each(messages)('to operators: %s', (_what, say, line) => {
    const { report, lines } = newReport('pretty');
    say(report);
    expect(lines).toEqual([`[00:00:00.000] ${line}\n`]);
  });

  it('is nothing about a run that went well', () => {
    const { report, lines } = newReport('pretty');
    report.ended(outcome);
    expect(lines).toEqual([]);
  });

  it('before the agent has said who it is has no name', () => {
    const lines: string[] = [];
    new Report(new HandClock(), { write: (line) => lines.push(line) }).say('info', 'started');
    expect(lines).toEqual(['[00:00:00.000] INFO: started\n']);
  });

  it.each([
    [
      'a release',
      (report: Report) => report.released({ type: 'lease-ended', leadership: 1, outcome, leaseLeftMs: 900 }),
      { result: 'ok', provenDead: true, durationMs: 12, command: '/bin/stop', leaseLeftMs: 900 },
    ],
    [
      'a run that failed',
      (report: Report) => report.ended(failed),
      { result: 'failed', provenDead: true, durationMs: 12, command: '/bin/stop' },
    ],
    [
      'the end of a session',
      (report: Report) => report.sessionEnded('ended', 40.4, 45.5),
      { provenDeadInMs: 40, inMs: 46 },
    ],
    [
      'the end of a session that is not confirmed',
      (report: Report) => report.sessionEnded('unconfirmed', 40.4, 45.5),
      { provenDeadInMs: 40, inMs: 46 },
    ],
    [
      'processes that are still running',
      (report: Report) => report.remains(new Map([[5_102, null]]), 25_000, null),
      { pgids: [5_102] },
    ],
    ['the root of the agent', (report: Report) => report.say('info', 'started'), { root: '/cluster' }],
    [
      'its group and leadership',
      (report: Report) => report.about({ root: '/orders', slot: 2, term: 3 }).say('warn', 'late'),
      { root: '/orders', slot: 2, term: 3, level: 'warn', msg: 'late' },
    ],
  ])('as JSON has the figures: %s', (_what, say, fields) => {
    const { report, lines } = newReport('json');
    say(report);
    expect(lines).toHaveLength(1);
    const common = { time: '1970-01-01T00:00:00.000Z', node: 'a1' };
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ ...common, ...fields });
  });
});
