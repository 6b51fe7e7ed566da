/** The proof that a process group has ended, for each answer that the system can give. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processesOf } from '../../src/hooks/system-processes.js';

const pgid = 700;
let proc = '';

beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), 'petrel-proc-'));
  mount('rw');
});
afterEach(() => rmSync(proc, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(join(proc, path, '..'), { recursive: true });
  writeFileSync(join(proc, path), text);
}

function mount(options: string): void {
  write(
    'self/mountinfo',
    `20 1 0:19 / / rw - ext4 disk rw\n21 20 0:20 / ${proc} rw - proc proc ${options}\n`,
  );
}

function process(pid: number, state: string, threads = 1, group = pgid): void {
  const before = `1 ${group} ${group} 0 -1 4227084 3011 6525 5 1 12 8 16 33 20 0`;
  write(`${pid}/stat`, `${pid} (a name) Z ) ${state} ${before} ${threads} 0 172417 0 0\n`);
}

/** `code` is the error that the system returns for any signal. Null means success. */
const groupLives = (code: string | null = null) =>
  processesOf({
    proc,
    kill: () => {
      if (code !== null) throw Object.assign(new Error(`kill ${code}`), { code });
    },
  }).groupIsAlive(pgid);

describe('V1 a process group', () => {
  it('has ended when each process of it is a zombie without other threads', () => {
    process(700, 'Z');
    process(701, 'X', 0);
    process(900, 'S', 4, 900);
    expect(groupLives()).toBe(false);
  });

  it.each(['R', 'S', 'D', 'T', 't', 'I', 'P', 'K', ''])(
    'lives while one of them is in state "%s"',
    (state) => {
      process(700, 'Z');
      process(701, state);
      expect(groupLives()).toBe(true);
    },
  );

  it('lives while a thread of it is left, though its main thread has ended', () => {
    process(700, 'Z', 2);
    expect(groupLives()).toBe(true);
  });

  it('has ended when the system knows none, and by no other answer', () => {
    process(700, 'S');
    expect(groupLives('ESRCH')).toBe(false);
    for (const code of ['EPERM', 'EACCES', 'ENOSYS']) expect(groupLives(code)).toBe(true);
  });

  it('lives where /proc shows none of it, or cannot be read', () => {
    expect(groupLives()).toBe(true);
    process(700, 'Z');
    mkdirSync(join(proc, '701/stat'), { recursive: true });
    expect(groupLives()).toBe(true);
    write('702/stat', '702 (torn) Z 1 700');
    rmSync(join(proc, '701'), { recursive: true });
    expect(groupLives()).toBe(true);
  });

  it.each(['hidepid=1', 'hidepid=2', 'gid=4,hidepid=invisible', 'hidepid=ptraceable', 'hidepid=4'])(
    'lives where /proc may hide some of it: %s',
    (option) => {
      process(700, 'Z');
      mount(`rw,${option}`);
      expect(groupLives()).toBe(true);
      mount('rw,hidepid=0');
      expect(groupLives()).toBe(false);
      mount('rw,hidepid=off');
      expect(groupLives()).toBe(false);
    },
  );
});
