/** Checks that systemd accepts the shipped units. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const folder = fileURLToPath(new URL('../../deploy/systemd/', import.meta.url));
const isHere = spawnSync('systemd-analyze', ['--version']).status === 0;
const notHere = isHere ? '' : ' (not here: no systemd-analyze)';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'petrel-units-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Returns the complaints of systemd about a unit. The programs that the unit names exist. */
function verify(unit: string, change: (text: string) => string = (text) => text): string {
  const text = readFileSync(join(folder, `${unit}@.service`), 'utf8');
  const path = join(directory, `${unit}@x.service`);
  writeFileSync(path, change(text.replaceAll('/usr/local/bin/petrel', process.execPath)));
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' });
  return `${stderr}${status === 0 ? '' : `exit ${status}`}`;
}

describe.skipIf(!isHere)(`systemd${notHere}`, () => {
  it.each(['petrel', 'petrel-run'])('has nothing to say against %s@.service', (unit) => {
    expect(verify(unit)).toBe('');
    mkdirSync(join(directory, `${unit}@x.service.d`));
    copyFileSync(join(folder, 'hardened.conf'), join(directory, `${unit}@x.service.d`, 'hardened.conf'));
    expect(verify(unit)).toBe('');
  });

  it('would say so', () => {
    expect(verify('petrel', (text) => text.replace('KillMode=mixed', 'KillMode=mixd'))).toContain('mixd');
  });
});
