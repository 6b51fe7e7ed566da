import { describe, expect, it } from 'vitest';
import { simulate } from './simulation.js';

describe('a simulated group', () => {
  it('lives the same life twice from one seed', async () => {
    for (const seed of [3, 159]) {
      const first = await simulate(seed, { keepsTrace: true });
      const second = await simulate(seed, { keepsTrace: true });
      expect(second).toEqual(first);
      expect(first.steps).toBeGreaterThan(200);
    }
  });

  it('does not change its life by being watched', async () => {
    const watched = await simulate(26, { keepsTrace: true });
    expect({ ...(await simulate(26)), trace: watched.trace }).toEqual(watched);
  });

  it('keeps every promise in a few lives, and has leaders in them', async () => {
    let claims = 0;
    for (let seed = 1; seed <= 8; seed += 1) {
      const outcome = await simulate(seed);
      expect(outcome.violation, `seed ${seed}`).toBeNull();
      claims += outcome.claims;
    }
    expect(claims).toBeGreaterThan(8);
  });

  it.each([
    [44, 'restore'],
    [144, 'restore'],
    [94, 'new credentials'],
    [36, 'delete chroot'],
    [11, 'quota'],
  ])('keeps every promise in life %i, in which the fault is: %s', async (seed, kind) => {
    const { violation, faults, claims } = await simulate(seed);
    expect(faults.map(({ fault }) => fault.kind)).toContain(kind);
    expect(violation).toBeNull();
    expect(claims).toBeGreaterThan(1);
  });

  it('ends agents whose new password no ACL accepts', async () => {
    const { faults } = await simulate(94);
    const unapplied = faults.filter(({ fault }) => fault.kind !== 'people');
    const { violation } = await simulate(94, { faults: unapplied });
    expect(violation?.what).toMatch(/^the agent of .* ended: .*no permission/);
  });
});
