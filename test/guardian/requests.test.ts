import { describe, expect, it } from 'vitest';
import { answerToClose, attachRequest } from '../../src/guardian/requests.js';
import { reply } from '../zookeeper/fake-server.js';

describe('a request of the guardian', () => {
  it('to continue a session needs a password of 16 bytes', () => {
    expect(() => attachRequest(7n, Buffer.alloc(15), 6_000)).toThrow(
      new RangeError('a session password of 15 bytes, expected 16'),
    );
  });

  it.each([
    ['done', { xid: 1, error: 0 }],
    ['refused', { xid: 1, error: -115 }],
    [null, { xid: 2, error: 0 }],
  ])('to close a session is %s', (answer, { xid, error }) => {
    const frame = reply(xid, { error }).subarray(4);
    expect(answerToClose(frame)).toBe(answer);
  });
});
