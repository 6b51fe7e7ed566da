import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { ChoiceInput } from '../../src/core/choice-input.js';
import { nowhereElse } from '../../src/core/elsewhere.js';
import { missedAtMs, missesRequest, requestText, targetText } from '../../src/core/requests.js';
import { type SwitchoverRequest, switchoverSchema } from '../../src/model/group-config.js';
import {
  ask,
  byHand,
  config,
  decided,
  epoch0Ms,
  failure,
  instant,
  member,
  members,
  unhealthy,
  unreadable,
} from './builders.js';

type Change = Partial<z.input<typeof switchoverSchema>>;
const minute = 60_000;

function request(change: Change = {}): SwitchoverRequest {
  return switchoverSchema.parse({ to: { node: 'b1' }, replacesTerm: 7, ...byHand, ...change });
}

/** Elects in term 7, in which a1 leads, while a request is pending. */
function requested(change: Change, rest: Partial<ChoiceInput> = {}) {
  return ask({
    members: members('a1', 'b1', 'b2'),
    config: config({ switchover: request(change) }),
    elected: decided({ node: 'a1', term: 7 }),
    ...rest,
  });
}

describe('a scheduled request', () => {
  it('is carried out at most a minute late', () => {
    const nodeAt = (ms: number) => requested({ notBefore: instant(0) }, { epochMs: epoch0Ms + ms }).node;
    expect([nodeAt(minute - 1), nodeAt(minute)]).toEqual(['b1', 'a1']);
  });

  it('is missed a minute after its time; a request without a time is never missed', () => {
    expect(missedAtMs({ notBefore: instant(0) })).toBe(epoch0Ms + minute);
    expect(missedAtMs({ notBefore: null })).toBeNull();
  });
});

describe('a decision that carries out no request', () => {
  const misses = (switchover: SwitchoverRequest | null, term: number, missedRequest?: boolean) =>
    missesRequest(config({ switchover }), decided({ term, missedRequest }));

  it('leaves a missed request behind if one was active, or if one had been missed before', () => {
    expect(misses(request(), 7)).toBe(true);
    expect(misses(request(), 8, true)).toBe(true);
    expect(misses(request(), 8)).toBe(false);
    expect(misses(null, 8, true)).toBe(false);
  });
});

describe('the text of a request', () => {
  it.each<[Change, string]>([
    [{}, 'switchover to b1, requested by ops at 2026-01-01T00:00:00.000Z,'],
    [{ to: { site: 'b' }, force: true }, 'failover to site b, requested by ops at 2026-01-01T00:00:00.000Z,'],
    [
      { to: 'best-other', notBefore: instant(minute), slot: 2 },
      'switchover of slot 2 to the best other node not before 2026-01-01T00:01:00.000Z, ' +
        'requested by ops at 2026-01-01T00:00:00.000Z,',
    ],
  ])('%j: %s', (change, text) => {
    expect(requestText(request(change))).toBe(text);
  });

  it('names the target', () => {
    expect(targetText({ node: 'b1' })).toBe('b1');
    expect(targetText({ site: 'b' })).toBe('site b');
    expect(targetText('best-other')).toBe('the best other node');
  });
});

describe('a request for a site', () => {
  const toB = { to: { site: 'b' } };

  it('that already leads there moves leadership only if the leader is not eligible', () => {
    const inB = decided({ node: 'b1', term: 7 });
    expect(requested(toB, { elected: inB }).changes).toBe(false);
    const sick = [member('a1'), member('b1', unhealthy), member('b2')];
    expect(requested(toB, { elected: inB, members: sick })).toMatchObject({
      node: 'b2',
      reason: 'switchover requested by ops: maintenance',
    });
  });

  it('does not select a node whose registration is malformed', () => {
    const present = [member('a1'), { ...member('b1'), ...unreadable() }, member('b2')];
    expect(requested(toB, { members: present }).node).toBe('b2');
  });
});

describe('a forced request for a node whose failure another slot records', () => {
  it('ends the backoff in this decision, and leaves the other failures as they are', () => {
    const elsewhere = failure('b1');
    const own = failure('b2');
    const choice = requested(
      { force: true },
      { failures: [elsewhere, own], elsewhere: { ...nowhereElse, failures: [elsewhere] } },
    );
    expect(choice).toMatchObject({ node: 'b1', changes: true });
    expect(choice.failures).toEqual([{ ...elsewhere, until: null }, own]);
  });
});
