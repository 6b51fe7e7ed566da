import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { readSettings } from '../../src/config/read-settings.js';
import { settingMeta } from '../../src/config/setting.js';
import { allSettings } from '../../src/config/settings.js';
import { storeOptions } from '../../src/config/store-options.js';
import { validatePath } from '../../src/embedded/paths.js';
import { PetrelError } from '../../src/errors.js';
import { anyText, expectClear, holds, spoilt, treacherousKeys, yamlText } from '../support/properties.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'petrel-properties-'));
});
afterAll(() => rm(directory, { recursive: true }));

const metas = Object.values(allSettings.shape).flatMap((schema) => settingMeta.get(schema) ?? []);

/** Reads settings. Returns null if a PetrelError with a clear message rejects them. */
async function read(sources: { flags?: Record<string, unknown>; env?: Record<string, string> }) {
  try {
    const { values, described } = await readSettings(allSettings, { flags: {}, env: {}, ...sources });
    expect(described).toHaveLength(metas.length);
    return values;
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error;
    expect(error.code).toBe('INVALID');
    expectClear(error.message, 50_000);
    for (const reason of error.reasons) expectClear(reason);
    return null;
  }
}

/** Valid and almost valid texts of a setting. */
const nearly = fc.oneof(
  anyText,
  fc.constantFrom(
    '6s',
    '100',
    '-1',
    '1e3',
    '0x10',
    '["/bin/true"]',
    '["/bin/true"',
    '[]',
    '{}',
    'digest:a:b',
  ),
  fc.constantFrom('a=b', 'a=b,c', '=', '__proto__=x', 'host:2181', '/a/b', '/zookeeper', '/a/../b', 'true'),
  fc.tuple(anyText, anyText).map(([name, value]) => `${name}=${value}`),
  fc.array(anyText, { maxLength: 4 }).map((parts) => parts.join(',')),
);

const example = {
  zookeeper: 'a:2181,b:2181/chroot',
  root: '/group',
  auth: 'digest:user:secret',
  nodeId: 'a1',
  site: 'a',
  priority: 7,
  sessionTimeout: '6s',
  stateDir: '/tmp/x',
  tags: { zone: 'x', rack: 7 },
  scores: { load: 'uptime', lag: { http: 'http://h/', tolerance: '5%' } },
  hooks: { onTakeover: ['/bin/true', 'x'], healthCheck: 'exit 0', healthCheckInterval: '5s' },
  format: 'json',
  waitTimeout: '1m',
};

describe('settings', () => {
  it('of the environment are right, or refused with a reason for each that is wrong', async () => {
    const names = fc.constantFrom(...metas.map(({ env }) => env), 'PETREL_', 'PETREL___PROTO__');
    await holds(
      fc.asyncProperty(fc.dictionary(names, nearly, { maxKeys: 4 }), async (env) => {
        await read({ env });
      }),
    );
  });

  it('of flags are right, or refused with a reason for each that is wrong', async () => {
    const names = fc.constantFrom(...Object.keys(allSettings.shape), 'tag', ...treacherousKeys);
    const values = fc.oneof(nearly, fc.array(nearly, { maxLength: 3 }));
    await holds(
      fc.asyncProperty(fc.dictionary(names, values, { maxKeys: 4 }), async (flags) => {
        await read({ flags });
      }),
    );
  });

  it('of a file are right, or refused with the place of each that is wrong', async () => {
    const path = join(directory, 'petrel.yaml');
    await writeFile(path, stringify(example));
    expect(await read({ env: { PETREL_CONFIG: path } })).toMatchObject({ nodeId: 'a1', root: '/group' });
    await holds(
      fc.asyncProperty(yamlText(spoilt(example)), async (text) => {
        await writeFile(path, text);
        await read({ env: { PETREL_CONFIG: path } });
      }),
    );
  });

  it('of a file of any bytes do no harm', async () => {
    const path = join(directory, 'bytes.yaml');
    await holds(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        await writeFile(path, bytes);
        await read({ env: { PETREL_CONFIG: path } });
      }),
    );
  });

  it('that are right name a root and servers that can be used', async () => {
    const part = fc.oneof(anyText, fc.constantFrom('a', '😀', '\ue000', 'ﬀ', '\ufffe', '.', 'zookeeper'));
    const paths = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`);
    const servers = fc.stringMatching(
      /^[a-z0-9.:[\]-]{0,12}(,[a-z0-9.:[\]-]{1,12}){0,3}(\/[a-z]{0,3}){0,2}$/,
    );
    await holds(
      fc.asyncProperty(paths, servers, async (root, zookeeper) => {
        const values = await read({ env: { PETREL_ROOT: root, PETREL_ZOOKEEPER: zookeeper } });
        if (values === null) return;
        validatePath(values.root);
        expect(storeOptions(values).servers.servers.length).toBeGreaterThan(0);
      }),
    );
  });
});
