/**
 * The settings of an agent's HTTP interface: its address and its token. Includes the errors about invalid
 * ones.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLoopback, parseListen } from '../../src/config/listen.js';
import { readSettings } from '../../src/config/read-settings.js';
import { agentSettings, runSettings } from '../../src/config/settings.js';
import { readTokenFile } from '../../src/config/token.js';

describe('where to listen', () => {
  it.each([
    ['auto', 'auto'],
    ['off', 'off'],
    ['127.0.0.1:8008', { host: '127.0.0.1', port: 8008 }],
    ['[::1]:0', { host: '::1', port: 0 }],
    ['petrel.example:65535', { host: 'petrel.example', port: 65_535 }],
  ])('%s is right', (text, listen) => {
    expect(parseListen(text)).toEqual(listen);
  });

  it.each(['', '8008', ':8008', '127.0.0.1', '::1:8008', '[::1]', '[a]:1', 'http://a:1', 'a/b:1', 'on'])(
    '"%s" is not, and it is said what would be',
    (text) => {
      expect(() => parseListen(text)).toThrow(/is not an address to listen on: write ADDRESS:PORT \(such as/);
    },
  );

  it('is at a port that there is', () => {
    expect(() => parseListen('a:65536')).toThrow(/65536 is not a port/);
  });

  it.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['::1', true],
    ['localhost', true],
    ['::ffff:127.0.0.1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['10.0.0.1', false],
    ['localhost.example', false],
  ])('%s is this machine’s alone: %s', (host, own) => {
    expect(isLoopback(host)).toBe(own);
  });

  it('is the usual place for an agent, and none for a command that is run', async () => {
    const none = { flags: {}, env: {} };
    expect((await readSettings(agentSettings, none)).values.httpListen).toBe('auto');
    expect((await readSettings(runSettings, none)).values.httpListen).toBe('off');
  });
});

describe('a token', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'petrel-token-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const file = (text: string, mode = 0o600) => {
    const path = join(directory, 'token');
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  };
  const token = '0123456789abcdef0123456789abcdef';

  it('is read from a file of one’s own', () => {
    expect(readTokenFile(file(`${token}\n`))).toBe(token);
    expect(readTokenFile(file(token, 0o400))).toBe(token);
    expect(readTokenFile(file(token, 0o640))).toBe(token);
  });

  it.each([0o604, 0o620, 0o660, 0o644])('is not read from a file of mode %o', (mode) => {
    expect(() => readTokenFile(file(token, mode))).toThrow(/other users can access .*chmod 600/);
  });

  it.each(['', 'short', 'a secret of words', `${token}\n${token}`, 'ü'.repeat(20)])(
    'is not "%s", and the content of the file is not repeated',
    (text) => {
      const read = () => readTokenFile(file(text));
      expect(read).toThrow(/contains no token: expected a token of 16 to 512|contains more than one line/);
      if (text !== '') expect(read).not.toThrow(text);
    },
  );

  it('comes by the environment or the settings file, but by no flag, and by one of them alone', async () => {
    const { values, described } = await readSettings(agentSettings, {
      flags: { httpToken: 'x'.repeat(20) },
      env: { PETREL_HTTP_TOKEN: token },
    });
    expect(values.httpToken).toBe(token);
    expect(described.find(({ key }) => key === 'http.token')).toMatchObject({
      value: '[secret]',
      source: 'PETREL_HTTP_TOKEN',
    });
    const env = { PETREL_HTTP_TOKEN: token, PETREL_HTTP_TOKEN_FILE: file(token) };
    await expect(readSettings(agentSettings, { flags: {}, env })).rejects.toThrow(/not both/);
  });

  it('that is wrong is not repeated', async () => {
    const wrong = readSettings(agentSettings, { flags: {}, env: { PETREL_HTTP_TOKEN: 'too-short' } });
    await expect(wrong).rejects.toThrow(/PETREL_HTTP_TOKEN: http.token: expected a token of 16 to 512/);
    await expect(wrong).rejects.not.toThrow(/too-short/);
  });
});
