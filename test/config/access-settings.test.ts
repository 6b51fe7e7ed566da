import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accessOf, checkAgent, credentialsOf } from '../../src/config/access-settings.js';
import { readSettings } from '../../src/config/read-settings.js';
import { agentSettings } from '../../src/config/settings.js';
import { storeOptions } from '../../src/config/store-options.js';
import { aclText } from '../../src/model/acl.js';
import { digestIdentity } from '../../src/zookeeper/digest.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'petrel-access-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function file(text: string, mode = 0o600): Promise<string> {
  const path = join(directory, 'auth');
  await writeFile(path, text);
  await chmod(path, mode);
  return path;
}

async function read(env: Record<string, string>) {
  return (await readSettings(agentSettings, { flags: {}, env })).values;
}

const agents = digestIdentity('petrel:s3cret').id;
const other = digestIdentity('petrel:other').id;
const ops = digestIdentity('ops:s3cret').id;

describe('credentials', () => {
  it('come from a file or the environment', async () => {
    const PETREL_AUTH_FILE = await file('digest:petrel:s3cret\n');
    expect(credentialsOf(await read({ PETREL_AUTH_FILE }))).toBe('petrel:s3cret');
    expect(credentialsOf(await read({ PETREL_AUTH: 'digest:petrel:a:b' }))).toBe('petrel:a:b');
    expect(credentialsOf(await read({}))).toBeNull();
    const both = read({ PETREL_AUTH: 'digest:a:b', PETREL_AUTH_FILE });
    await expect(both).rejects.toThrow(/not both/);
  });

  it('T7 are one line: an empty line behind it, once a part of the password, is refused', async () => {
    const PETREL_AUTH_FILE = await file('digest:petrel:s3cret\r\n');
    expect(credentialsOf(await read({ PETREL_AUTH_FILE }))).toBe('petrel:s3cret');
    await file('digest:petrel:s3cret\n# mine\n');
    const settings = await read({ PETREL_AUTH_FILE });
    expect(() => credentialsOf(settings)).toThrow(/contains more than one line/);
    await file('digest:petrel:s3cret\n\r\n');
    expect(() => credentialsOf(settings)).toThrow(/ends with an empty line: remove the empty line/);
    await expect(read({ PETREL_AUTH: 'digest:petrel:s3cret\n' })).rejects.toThrow(/on one line/);
    await expect(read({ PETREL_TLS_PASSPHRASE: 's3cret\n', PETREL_TLS_KEY: '/dev/null' })).rejects.toThrow(
      /one line/,
    );
  });

  it.each([
    ['digest:petrel:s3cret', 0o644, /other users can access .* \(mode 0644\)/],
    ['petrel:s3cret', 0o600, /contains no credentials: expected digest:USER:PASSWORD/],
  ])('in a file %s of mode %o are refused, and not repeated', async (text, mode, problem) => {
    const settings = await read({ PETREL_AUTH_FILE: await file(text, mode) });
    expect(() => credentialsOf(settings)).toThrow(problem);
    expect(() => credentialsOf(settings)).not.toThrow(/s3cret/);
  });
});

describe('who may do what', () => {
  it('is nobody’s affair without credentials', async () => {
    expect(accessOf(await read({ PETREL_ACL_WORLD: 'read' }))).toBeNull();
    expect(storeOptions(await read({}))).not.toHaveProperty('acl');
  });

  it('is by default all for who has the same credentials', async () => {
    const { acl } = storeOptions(await read({ PETREL_AUTH: 'digest:petrel:s3cret' }));
    if (typeof acl !== 'function') throw new Error('a function was expected');
    expect(acl('/cluster/config')).toEqual([{ permissions: 31, identity: { scheme: 'digest', id: agents } }]);
  });

  it('follows the roles', async () => {
    const settings = await read({
      PETREL_AUTH: 'digest:petrel:s3cret',
      PETREL_ACL_AGENTS: `${agents}, ${other}`,
      PETREL_ACL_OPERATORS: ops,
      PETREL_ACL_WORLD: 'read',
      PETREL_ROOT: '/billing',
    });
    checkAgent(settings);
    const { acl } = storeOptions(settings);
    if (typeof acl !== 'function') throw new Error('a function was expected');
    expect(aclText(acl('/billing/config'))).toBe(
      'digest:petrel:cdrwa, digest:petrel:cdrwa, digest:ops:rw, world:anyone:r',
    );
  });

  it('locks no agent out of its own group', async () => {
    const PETREL_ACL_AGENTS = other;
    const wrong = await read({ PETREL_AUTH: 'digest:petrel:s3cret', PETREL_ACL_AGENTS });
    expect(() => checkAgent(wrong)).toThrow(/acl.agents: .*would lock itself out/);
    expect(() => checkAgent(wrong)).not.toThrow(/s3cret/);
    for (const env of [{ PETREL_ACL_AGENTS }, { PETREL_ACL_OPERATORS: ops }]) {
      const without = await read(env);
      expect(() => checkAgent(without)).toThrow(/needs its own credentials/);
    }
  });

  it('is written by digest: a password in its place is refused, and not repeated', async () => {
    const wrong = read({ PETREL_AUTH: 'digest:a:b', PETREL_ACL_AGENTS: 'petrel:s3cret' });
    await expect(wrong).rejects.toThrow(/PETREL_ACL_AGENTS: acl.agents.0: expected USER:DIGEST/);
    await expect(wrong).rejects.not.toThrow(/s3cret/);
  });
});
