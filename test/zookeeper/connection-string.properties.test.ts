import { isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PetrelError } from '../../src/errors.js';
import { parseConnectionString, serverText } from '../../src/zookeeper/connection-string.js';
import { anyText, expectClear, holds } from '../support/properties.js';

const host = fc.oneof(
  fc.domain(),
  fc.ipV4(),
  fc.ipV6().filter(isIPv6),
  fc.constantFrom('zk-1', 'localhost', 'a_b'),
);
const server = fc.record({ host, port: fc.integer({ min: 1, max: 65_535 }) });
const chroot = fc.array(fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/), { maxLength: 3 });

describe('a connection string', () => {
  it('is read back as it was written', async () => {
    await holds(
      fc.property(fc.array(server, { minLength: 1, maxLength: 5 }), chroot, (servers, names) => {
        const path = names.map((name) => `/${name}`).join('');
        const read = parseConnectionString(`${servers.map(serverText).join(',')}${path}`);
        const distinct = [...new Map(servers.map((one) => [serverText(one), one])).values()];
        expect(read).toEqual({ servers: distinct, chroot: path });
      }),
    );
  });

  it('is read, or refused with the part that is wrong', async () => {
    const piece = fc.oneof(
      anyText,
      fc.constantFrom(
        ',',
        ':',
        '/',
        '[',
        ']',
        '[::1]',
        '1.2.3',
        'zk1',
        ':2181',
        ':0',
        ':99999',
        '://',
        ' ',
        '..',
      ),
      fc.string({ unit: fc.constantFrom(...'0123456789.:[]/,-_az ') }),
    );
    const texts = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
    await holds(
      fc.property(texts, (text) => {
        try {
          const { servers, chroot: path } = parseConnectionString(text);
          expect(servers.length).toBeGreaterThan(0);
          const again = parseConnectionString(`${servers.map(serverText).join(',')}${path}`);
          expect(again).toEqual({ servers, chroot: path });
        } catch (error) {
          if (!(error instanceof PetrelError)) throw error;
          expect(error.code).toBe('INVALID');
          expectClear(error.message);
        }
      }),
    );
  });
});
