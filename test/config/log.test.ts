import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { type LogOptions, logFormats } from '../../src/log.js';
import { builtModule } from '../support/built.js';

/** Runs `statements` with a `log` in a separate process. Returns the process's output. */
async function logged(options: LogOptions, statements: string): Promise<{ stderr: string; stdout: string }> {
  const script = `import { createLogger } from '${await builtModule('log.js')}';
    const log = createLogger(${JSON.stringify(options)});
    ${statements}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stderr, stdout] = await Promise.all([text(child.stderr), text(child.stdout)]);
  return { stderr, stdout };
}

const fields = { node: 'a1', root: '/cluster' };

describe('the log', () => {
  it('is JSON lines on stderr when that is no terminal, and leaves stdout alone', async () => {
    const { stderr, stdout } = await logged(
      { level: 'info', format: 'auto', fields },
      `log.debug('hidden'); log.child({ phase: 'takeover', term: 3 }).info({ fencingToken: 9007199254740993n }, 'went well');`,
    );
    const lines = stderr.trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      ...fields,
      phase: 'takeover',
      term: 3,
      fencingToken: '9007199254740993',
      msg: 'went well',
    });
    expect(stdout).toBe('');
  });

  it('has fields in pretty lines only for debugging, and none that is too long for one line', async () => {
    const statement = `log.info({ term: 3, ranking: [{ node: 'b1' }], ineligible: [], record: { kind: 'x' }, outputTail: ['y'] }, 'electing b1');`;
    const usual = await logged({ level: 'info', format: 'pretty', fields }, statement);
    expect(usual.stderr).toMatch(/INFO: \[a1\] electing b1\n$/);
    const debugged = await logged({ level: 'debug', format: 'pretty', fields }, statement);
    expect(debugged.stderr).toMatch(/INFO: \[a1\] electing b1 \{"term":3\}\n$/);
  });

  it('has nothing in it that commands a terminal, or is not seen', async () => {
    const statement = `log.info({ reason: 'a\\u202eb' }, 'c\\u001b[31m\\u2066d\\\\u001b');`;
    const json = await logged({ level: 'info', format: 'json', fields }, statement);
    expect(json.stderr).not.toMatch(/[\p{Cf}]|(?!\n)\p{Cc}/u);
    expect(JSON.parse(json.stderr)).toMatchObject({ reason: 'a\u202eb', msg: 'c\u001b[31m\u2066d\\u001b' });
    const pretty = await logged({ level: 'debug', format: 'pretty', fields }, statement);
    expect(pretty.stderr).toContain('c [31m<U+2066>d\\u001b {"reason":"a<U+202E>b"}');
    expect(pretty.stderr).not.toMatch(/[\p{Cf}]|(?!\n)\p{Cc}/u);
  });

  it('shows no secret, in either format', async () => {
    for (const format of logFormats) {
      const { stderr } = await logged(
        { level: 'debug', format, fields },
        `log.info({ auth: 'digest:u:hunter2', settings: { passphrase: 'hunter2' }, session: { sessionPassword: 'hunter2' } }, 'x');`,
      );
      expect(stderr).toContain('[secret]');
      expect(stderr).not.toContain('hunter2');
    }
  });

  it.skipIf(!existsSync('/dev/full'))(
    'lets a process go on, and end well, when its disk is full',
    async () => {
      const full = openSync('/dev/full', 'w');
      const script = `import { createLogger } from '${await builtModule('log.js')}';
      const log = createLogger({ level: 'info', format: 'json' });
      for (let i = 0; i < 500; i++) log.info('line');
      setTimeout(() => { log.info('more'); console.log('went on'); }, 100);`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', full],
      });
      closeSync(full);
      const exited = once(child, 'exit');
      expect(await text(child.stdout ?? Readable.from([]))).toBe('went on\n');
      expect(await exited).toEqual([0, null]);
    },
  );

  it('keeps the last line of a process that exits at once', async () => {
    for (const format of logFormats) {
      const { stderr } = await logged(
        { level: 'info', format, fields },
        `for (let i = 0; i < 500; i++) log.info('line'); log.fatal('the end'); process.exit(1);`,
      );
      expect(stderr.trim().split('\n').at(-1)).toContain('the end');
    }
  });

  it('can be created many times in a process, without a warning from Node.js', async () => {
    for (const format of logFormats) {
      const { stderr } = await logged(
        { level: 'info', format, fields },
        `for (let i = 0; i < 20; i++) createLogger({ level: 'info', format: '${format}' }); log.info('line');`,
      );
      expect(stderr.trim().split('\n')).toEqual([expect.stringContaining('line')]);
    }
  });
});
