/** One complete example of the content of each znode of a group. */
import { groupConfigSchema } from '../../src/model/group-config.js';
import { byHand, decided, failure, instant, registration } from '../core/builders.js';

export const detail = {
  phase: 'takeover',
  reason: 'exit code 1',
  command: '/bin/x',
  exitCode: 1,
  signal: null,
};
const place = { node: 'a1', site: 'a' };

export const examples = {
  registration: {
    ...registration('a1'),
    tags: { zone: 'x' },
    lastFailure: { electedVersion: 3, token: '17', detail: { ...detail, durationMs: 5, outputTail: ['no'] } },
    lastTakeover: { token: '17', durationMs: 12 },
    lastRelease: { token: '16', term: 7, result: 'ok', durationMs: 3, error: null },
    gaveUp: { configVersion: 2, reason: 'no such strategy' },
  },
  elected: decided({
    node: 'a1',
    term: 7,
    previous: place,
    priorities: [100, 100],
    requested: { by: 'ops', overridden: ['unhealthy'] },
    failures: [failure('b1')],
  }),
  claim: {
    ...place,
    incarnation: 'a1-life1',
    status: 'READY',
    term: 7,
    electedVersion: 1,
    resumes: { token: '90', reason: 'cut off', agoMs: 5, lostLease: true, earlierAgoMs: [70_000] },
  },
  head: { term: 7, fencingToken: '100' },
  transition: {
    kind: 'transition',
    term: 7,
    fencingToken: '100',
    ...place,
    previous: { node: 'b1', site: 'b' },
    strategy: 'site-priority',
    reason: 'better',
    cause: 'failure',
    outcome: 'FAILED',
    error: { ...detail, durationMs: 5, outputTail: ['no'] },
    electedAt: instant(0),
    claimedAt: instant(1),
    readyAt: null,
    by: 'a1',
    resumes: { token: '90', reason: 'cut off', endedAt: instant(0) },
    release: { node: 'b1', result: 'ok', error: null, durationMs: 1, endedAt: instant(0) },
    phases: { releaseMs: 1, claimMs: 2, takeoverMs: null },
  },
  scores: {
    node: 'a1',
    incarnation: 'a1-life1',
    values: { requests: 12.5, history: '9223372036854775807' },
    roundTripsMs: { b1: 9.88 },
  },
  change: { kind: 'change', by: 'ops', what: 'paused', reason: null, at: instant(0) },
  config: groupConfigSchema.parse({
    sites: { a: { priority: 5, override: { priority: 1, until: instant(5000), ...byHand } }, b: {} },
    failback: 'after:10m',
    paused: byHand,
    switchover: { to: { node: 'b1' }, replacesTerm: 7, notBefore: instant(9), ...byHand },
    drained: { b1: byHand },
    clearedFailures: { b1: { failedAt: instant(0), ...byHand } },
    strategyOptions: { order: ['a1'] },
  }),
} as const;
