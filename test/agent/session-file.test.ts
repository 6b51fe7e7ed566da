import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SessionFile } from '../../src/agent/session/session-file.js';
import { builtModule } from '../support/built.js';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'petrel-state-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function refusal(stateDir: string): unknown {
  try {
    SessionFile.open(stateDir, '/g', 'a1');
    return null;
  } catch (error) {
    return error;
  }
}

it('A2 a state directory that can never be used is a wrong setting', () => {
  const file = join(directory, 'file');
  writeFileSync(file, '');
  expect(refusal(join(file, 'state'))).toMatchObject({
    code: 'INVALID',
    message: expect.stringContaining('ENOTDIR'),
    remedies: [{ kind: 'state-dir' }],
  });
});

it('A2 a state directory that is a link to a disk that is not mounted is a failure that may pass', () => {
  const link = join(directory, 'link');
  symlinkSync(join(directory, 'nowhere'), link);
  expect(refusal(link)).toMatchObject({ code: 'FAILED', message: expect.stringContaining('ENOENT') });
});

const script = 'mount -t tmpfs -o ro none "$0" && exec "$1" --input-type=module -e "$2" "$0/state"';
const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0;

it.runIf(canMount)(
  'A2 a state directory on a read-only disk is a failure that may pass, and says so',
  async () => {
    const program = `
    import { SessionFile } from '${await builtModule('agent/session/session-file.js')}';
    try { SessionFile.open(process.argv[1], '/g', 'a1'); } catch ({ code, message }) { console.log(code, message); }
  `;
    const args = ['--mount', 'sh', '-c', script, directory, process.execPath, program];
    const { stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' });
    expect(stdout, stderr).toMatch(/^FAILED cannot use the state directory .*: EROFS/);
  },
);
