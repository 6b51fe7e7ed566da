/**
 * Fault A4 (docs/reports/faults.md): secrets that a running node has in memory, and that were replaced on
 * disk.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { heldSecrets, replacedSecrets } from '../../src/node/held-secrets.js';

it('A4 a file that holds another secret than at the start is named, and no other', () => {
  const directory = mkdtempSync(join(tmpdir(), 'petrel-held-'));
  const path = join(directory, 'auth');
  const settings = { authFile: path, probeSecretFile: null };
  try {
    writeFileSync(path, 'digest:petrel:first\n');
    const atStart = heldSecrets(settings);
    expect(replacedSecrets(atStart, settings, settings)).toEqual([]);
    // A changed path is not listed here, because it is reported like any other changed setting.
    expect(replacedSecrets(atStart, settings, { ...settings, authFile: `${path}2` })).toEqual([]);
    writeFileSync(path, 'digest:petrel:second\n');
    expect(replacedSecrets(atStart, settings, settings)).toEqual([{ name: 'authFile', key: 'authFile' }]);
    rmSync(path);
    expect(replacedSecrets(atStart, settings, settings)).toEqual([]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
