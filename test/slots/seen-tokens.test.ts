import { describe, expect, it } from 'vitest';
import { defaultGroupConfig } from '../../src/model/group-config.js';
import {
  goneBack,
  goneBackText,
  noTokens,
  type SeenTokens,
  tokensIn,
  withToken,
} from '../../src/slots/seen-tokens.js';
import { claim, group, unreadable, versioned } from '../core/builders.js';

const seen: SeenTokens = { epoch: 1, bySlot: new Map([[1, 48n]]) };
const at = (token: bigint, epoch: number | null = 1, slot = 1) => ({ epoch, slot, token });

describe('V4 fencing tokens that were seen', () => {
  it.each([
    ['a greater one', at(49n), true, null],
    ['the same, created again', at(48n), true, /not greater than 48/],
    ['the same, which stood', at(48n), false, null],
    ['a smaller one', at(38n), false, /38 is not greater than 48.*tokenEpoch 2/],
    ['a smaller one of another slot', at(38n, 1, 2), true, null],
    ['a smaller one of a later epoch', at(38n, 2), true, null],
    [
      'a greater one of an earlier epoch',
      at(99n, 0),
      true,
      /tokenEpoch in the configuration is 0, but it was 1/,
    ],
    ['a smaller one, the configuration unreadable', at(38n, null), true, /not greater than 48/],
    ['a greater one, the configuration unreadable', at(49n, null), true, null],
  ])('judge %s', (_, token, isNew, expected) => {
    const reason = goneBack(seen, token, isNew);
    if (expected === null || reason === null) expect(reason).toBe(expected);
    else expect(goneBackText(reason)).toMatch(expected);
  });

  it('rise, and start over with the epoch', () => {
    expect(withToken(seen, at(38n))).toBe(seen);
    expect(withToken(seen, at(99n, 0))).toBe(seen);
    expect(withToken(seen, at(50n, null))).toEqual({ epoch: 1, bySlot: new Map([[1, 50n]]) });
    expect(withToken(seen, at(7n, 1, 2)).bySlot).toEqual(
      new Map([
        [1, 48n],
        [2, 7n],
      ]),
    );
    expect(withToken(seen, at(38n, 2))).toEqual({ epoch: 2, bySlot: new Map([[1, 38n]]) });
    expect(goneBack(noTokens, at(1n, 0), true)).toBeNull();
  });

  it('are those of every claim, whichever node owns it', () => {
    const current = claim('a1', { token: 5n });
    const other = { slot: 2, elected: group().elected, current: claim('b1', { token: 6n }) };
    const config = versioned({ ...defaultGroupConfig, tokenEpoch: 3 });
    expect(tokensIn(group({ config, current, others: [other] }))).toEqual([at(5n, 3), at(6n, 3, 2)]);
    expect(tokensIn(group({ config: unreadable(), current }))).toEqual([at(5n, null)]);
  });
});
