import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PetrelError } from '../../src/errors.js';
import { readJoinOptions } from '../../src/library/join-options.js';
import { anyJson, anyText, expectClear, holds, spoilt } from '../support/properties.js';

const good = {
  zookeeper: 'a:2181',
  root: '/group',
  nodeId: 'a1',
  site: 'a',
  priority: 5,
  tags: { zone: 'x' },
  scores: { load: 'uptime', lag: { http: 'http://h/', tolerance: '5%' } },
  sessionTimeout: '6s',
  credentials: 'user:secret',
  stateDir: '/tmp/x',
};

describe('options of a process that joins', () => {
  it('are right, or refused with a reason for each that is wrong', async () => {
    expect(readJoinOptions(good)).toMatchObject({ nodeId: 'a1', sessionTimeout: 6000 });
    const odd = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });
    const values = fc.oneof(
      spoilt(good),
      anyJson,
      odd,
      fc
        .tuple(fc.constantFrom(...Object.keys(good), 'tls', 'logger', 'signal', 'x'), fc.oneof(odd, anyText))
        .map(([key, value]) => ({ ...good, [key]: value })),
    );
    await holds(
      fc.property(values, (value) => {
        try {
          const read: { nodeId: string } = Reflect.apply(readJoinOptions, undefined, [value]);
          expect(read.nodeId).not.toBe('');
        } catch (error) {
          if (!(error instanceof PetrelError)) throw error;
          expect(error.code).toBe('INVALID');
          expectClear(error.message);
        }
      }),
    );
  });
});
