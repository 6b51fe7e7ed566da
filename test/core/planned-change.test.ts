/** Planned changes: how long they last, and what they keep of an operator's earlier request. */
import { describe, expect, it } from 'vitest';
import { handoverOf, requestedBefore } from '../../src/core/planned-change.js';
import type { Elected } from '../../src/model/znodes.js';
import { ask, config, decided, members } from './builders.js';

const a1 = { node: 'a1', site: 'a' };
const byOps = { by: 'ops', overridden: [] };
const byEve = { by: 'eve', overridden: [] };

describe('a decision that takes leadership away from a working node', () => {
  const changeBy = (
    elected: Partial<Elected>,
    decision: Partial<Parameters<typeof handoverOf>[1]>,
    previous: Elected['previous'] = a1,
  ) =>
    handoverOf(
      { elected: decided(elected), previous },
      { node: 'b1', cause: 'planned', requested: null, ...decision },
    );
  const leads = { node: 'a1' };
  const underWay = (requested: boolean) => ({ node: 'b1', handover: { requested, previousBy: 'ops' } });

  it('begins a planned change', () => {
    expect(changeBy(leads, { cause: 'planned' })).toStrictEqual({ handover: { requested: false } });
    expect(changeBy(leads, { cause: 'preference' })).toStrictEqual({ handover: { requested: false } });
    expect(changeBy(leads, { requested: byEve })).toStrictEqual({ handover: { requested: true } });
  });

  it('keeps the name of the operator who had requested that node', () => {
    expect(changeBy({ ...leads, requested: byOps }, {})).toStrictEqual({
      handover: { requested: false, previousBy: 'ops' },
    });
  });

  it('begins no planned change after a failure, unless an operator requested it', () => {
    expect(changeBy(leads, { cause: 'failure' })).toStrictEqual({});
    expect(changeBy(leads, { cause: 'shutdown' })).toStrictEqual({});
    expect(changeBy(leads, { cause: 'failure', requested: byEve })).toStrictEqual({
      handover: { requested: true },
    });
  });

  it.each([
    [false, null, false],
    [false, byEve, true],
    [true, null, true],
    [true, byEve, true],
  ])(
    'continues a planned change that is under way (requested: %s), with the request %j',
    (before, request, requested) => {
      const next = { node: 'c1', cause: 'failure', requested: request } as const;
      expect(changeBy(underWay(before), next)).toStrictEqual({ handover: { requested, previousBy: 'ops' } });
    },
  );

  it('continues a planned change also through a decision to elect no node', () => {
    const { handover } = underWay(true);
    expect(changeBy(underWay(true), { node: null, cause: 'nobody' })).toStrictEqual({ handover });
    expect(changeBy({ node: null, handover }, { cause: 'failure' })).toStrictEqual({ handover });
  });

  it('begins no planned change while none is under way and the elected node was never READY', () => {
    expect(changeBy({ node: 'b1' }, { node: 'c1' })).toStrictEqual({});
    expect(changeBy({ node: 'b1' }, { node: null }, null)).toStrictEqual({});
  });

  it('ends one when leadership returns, and when an operator forces a failover', () => {
    expect(changeBy(underWay(true), { node: 'a1', cause: 'failure' })).toStrictEqual({});
    expect(changeBy(underWay(true), { node: 'c1', requested: { ...byEve, forced: true } })).toStrictEqual({});
  });
});

describe('an operator’s earlier request for the previous leader', () => {
  const elected = decided({ node: 'b1', handover: { requested: true, previousBy: 'ops' } });

  it('holds again if leadership returns to that node', () => {
    expect(requestedBefore({ elected, previous: a1 }, 'a1')).toStrictEqual({ by: 'ops', overridden: [] });
  });

  it('does not hold for another node, for a node that did not give up leadership, or if there was none', () => {
    expect(requestedBefore({ elected, previous: a1 }, 'c1')).toBeNull();
    expect(requestedBefore({ elected, previous: null }, 'c1')).toBeNull();
    expect(requestedBefore({ elected, previous: { node: 'b1', site: 'b' } }, 'b1')).toBeNull();
    const automatic = decided({ node: 'b1', handover: { requested: true } });
    expect(requestedBefore({ elected: automatic, previous: a1 }, 'a1')).toBeNull();
  });

  it('holds again if an operator lowers the priority of the new node before it is READY', () => {
    const choice = ask({
      members: members('a1', 'b1'),
      config: config({ sites: { b: { priority: 40 } } }),
      elected: { ...elected, priorities: [50, 100] },
      previous: a1,
      readyForMs: null,
    });
    expect(choice).toMatchObject({ node: 'a1', cause: 'planned', requested: byOps, isReturn: true });
  });
});
