import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseProcess, processText } from '../../src/agent/session/process-life.js';
import { SessionFile } from '../../src/agent/session/session-file.js';
import { anyText, holds, jsonText, spoilt } from '../support/properties.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'petrel-session-'));
});
afterAll(() => rm(directory, { recursive: true }));

const good = { session: '72057594037927936', password: Buffer.alloc(16, 7).toString('base64') };

describe('the session file', () => {
  it('gives back what was written', async () => {
    const password = fc.uint8Array({ minLength: 16, maxLength: 16 });
    await holds(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), password, (id, bytes) => {
        const ticket = { id, password: Buffer.from(bytes) };
        const before = SessionFile.open(directory, '/g', 'a1');
        before.write(ticket);
        before.close(false);
        const after = SessionFile.open(directory, '/g', 'a1');
        expect(after.earlier).toEqual(ticket);
        after.close(true);
      }),
      0.5,
    );
  });

  it('that is malformed holds nothing, or a session that can be tried', async () => {
    const texts = fc.oneof(
      spoilt(good).map(jsonText),
      anyText,
      fc.uint8Array({ maxLength: 100 }),
      fc.constantFrom('AAAA', '', '====', 'a b').map((password) => jsonText({ ...good, password })),
    );
    await holds(
      fc.asyncProperty(texts, async (text) => {
        await writeFile(join(directory, 'g', 'a1.session.json'), text);
        const file = SessionFile.open(directory, '/g', 'a1');
        const { earlier } = file;
        file.close(false);
        if (earlier !== null) expect(earlier.password).toHaveLength(16);
      }),
      0.5,
    );
  });
});

describe('a session file that was damaged', () => {
  it('so that its password is cut: nothing is remembered, instead of an agent that cannot start', async () => {
    const password = Buffer.from('abc').toString('base64');
    await writeFile(join(directory, 'g', 'b1.session.json'), jsonText({ ...good, password }));
    const file = SessionFile.open(directory, '/g', 'b1');
    expect(file.earlier).toBeNull();
    file.close(true);
  });
});

describe('the name of a process', () => {
  it('is read back as it was written', async () => {
    const startedAt = fc.option(fc.stringMatching(/^[0-9]{1,12}$/));
    await holds(
      fc.property(fc.integer({ min: 1, max: 4_194_304 }), startedAt, (pid, at) => {
        expect(parseProcess(processText({ pid, startedAt: at }))).toEqual({ pid, startedAt: at });
      }),
    );
  });

  it('is none, or a number that a process may have, whatever the lock holds', async () => {
    await holds(
      fc.property(anyText, (text) => {
        const read = parseProcess(text);
        if (read !== null) expect(read.pid).toBeGreaterThan(0);
      }),
    );
  });
});
