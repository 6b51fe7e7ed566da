import type { HookContext, Phase } from '../../src/ports/workload.js';

export function context(phase: Phase, overrides: Partial<HookContext> = {}): HookContext {
  return {
    phase,
    root: '/cluster',
    node: 'a1',
    site: 'a',
    term: 3,
    slot: 1,
    slots: 1,
    fencingToken: phase === 'takeover' || phase === 'release' ? 4294967312n : null,
    reason: 'a test',
    previousLeader: 'b1',
    previousSite: 'b',
    timeoutMs: 10_000,
    graceMs: 2000,
    ...overrides,
  };
}
