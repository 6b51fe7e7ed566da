/** Input to the steps of one node's leadership. Everything that a test does not set has a default. */
import {
  type Leadership,
  type LeadershipInput,
  leadershipStep,
  type Stage,
} from '../../src/core/leadership.js';
import type { GroupSnapshot } from '../../src/model/snapshot.js';
import { type ClaimChange, claim, config, decided, group, sessionOf, versioned } from './builders.js';

export const self = 'a1';
export const token = 100n;
export const term = 3;
export const version = 8;
export const failed = {
  phase: 'takeover',
  reason: 'exit code 1',
  command: null,
  exitCode: 1,
  signal: null,
  durationMs: 5,
  outputTail: [],
};

export function leadership(stage: Stage, change: Partial<Leadership> = {}): Leadership {
  return { token, term, stage, failure: null, claimedUnder: version, ...change };
}

export const own = (change: ClaimChange = {}) =>
  claim(self, { status: 'PROGRESS', token, term, version: 4, ...change });
export const mine = decided({ node: self, term });

export function seen(change: Partial<GroupSnapshot> = {}): GroupSnapshot {
  return group({ elected: versioned(mine, version), ...change });
}

export function situation(change: Partial<LeadershipInput> = {}): LeadershipInput {
  return {
    self,
    session: sessionOf(self),
    sessionOver: false,
    snapshot: seen(),
    config: config(),
    leadership: null,
    spentToken: 0n,
    lease: { releaseAtMs: 1000, endsAtMs: 2000 },
    nowMs: 0,
    healthy: true,
    draining: false,
    drainOverdue: false,
    prepare: null,
    handOverRefused: false,
    failedUnder: null,
    ...change,
  };
}

export const step = (change: Partial<LeadershipInput>) => leadershipStep(situation(change));
