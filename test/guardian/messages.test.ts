import { describe, expect, it } from 'vitest';
import { type FromAgent, isForGuardian, isFromAgent } from '../../src/guardian/messages.js';

const session = {
  id: '7',
  password: 'cGFzc3dvcmQ=',
  timeoutMs: 4_000,
  longestTimeoutMs: 6_000,
  servers: [{ host: 'zk1', port: 2181 }],
  tls: null,
  auth: null,
};

describe('a session that an agent sends to its guardian', () => {
  it.each(['7', '-7', '1230', '9223372036854775807', '-9223372036854775808'])('has an id like %s', (id) => {
    expect(isFromAgent({ type: 'session', session: { ...session, id } })).toBe(true);
  });

  it.each(['', '0', '-0', '07', '+7', '7n', ' 7', '0x7', '7.5', '12345678901234567890', 7, null])(
    'has no id like %j',
    (id) => {
      expect(isFromAgent({ type: 'session', session: { ...session, id } })).toBe(false);
    },
  );
});

describe('a message of an agent', () => {
  it.each<[about: string, message: FromAgent, isAbout: boolean]>([
    ['the agent itself', { type: 'ended', code: 0 }, true],
    ['what the guardian runs for a group', { type: 'clear', group: 0 }, false],
  ])('concerns %s', (_about, message, isAbout) => {
    expect(isForGuardian(message)).toBe(isAbout);
  });
});
