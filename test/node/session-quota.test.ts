import { describe, expect, it } from 'vitest';
import { endBytes, endBytesOf, mostEndBytes } from '../../src/node/session-end.js';
import { SessionQuota } from '../../src/node/session-quota.js';

const root = (index: number) => `/services/${'x'.repeat(80)}/${String(index).padStart(5, '0')}`;
const most = Math.floor((mostEndBytes - endBytes) / endBytesOf(root(0), 'a1'));

describe('the room in a session', () => {
  it('is there for thousands of groups whose roots are short', () => {
    const room = new SessionQuota('node-00001');
    const refused = Array.from({ length: 5_000 }, (_, index) => room.take(`/services/service-${index}`));
    expect(refused.filter((why) => why !== null)).toEqual([]);
  });

  it('ends before servers go down with the session', () => {
    const room = new SessionQuota('a1');
    for (let index = 0; index < most; index++) expect(room.take(root(index))).toBeNull();
    expect(room.take(root(most))).toMatch(/^with \d+ other groups, .*use shorter root paths/);
    // The session already has room for this group.
    expect(room.take(root(0))).toBeNull();
  });

  it('is there again when a group is left', () => {
    const room = new SessionQuota('a1');
    for (let index = 0; index < most; index++) room.take(root(index));
    room.giveBack(root(7));
    expect(room.take(root(most))).toBeNull();
    expect(room.take(root(7))).not.toBeNull();
  });

  it('counts bytes, not letters', () => {
    expect(endBytesOf('/dienste/größe', 'a1')).toBe(endBytesOf('/dienste/grosse', 'a1') + 4);
  });
});
