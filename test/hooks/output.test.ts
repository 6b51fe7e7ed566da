import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { HookOutput } from '../../src/hooks/output.js';
import { systemClock } from '../../src/ports/clock.js';

/** Writes the chunks, and returns the lines that the listener receives. */
async function output(chunks: readonly (string | Buffer)[]) {
  const lines: string[] = [];
  let leftOut = 0;
  const read = new HookOutput(
    {
      line: (_, text) => lines.push(text),
      leftOut: (count) => {
        leftOut += count;
      },
    },
    systemClock,
  );
  const stream = new PassThrough();
  read.read('stdout', stream);
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await finished(stream);
  return { lines, leftOut, tail: read.tail };
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => String(from + at));

describe('the output of a command', () => {
  it('is passed on line by line, wherever its chunks end', async () => {
    const euro = Buffer.from('a€b\n');
    const { lines, tail } = await output([
      'one\ntw',
      'o\n\nthr',
      'ee\r\n',
      euro.subarray(0, 2),
      euro.subarray(2),
      'end',
    ]);
    expect(lines).toEqual(['one', 'two', '', 'three', 'a€b', 'end']);
    expect(tail).toEqual(lines);
  });

  it('loses its colours, which could do worse than colour', async () => {
    expect((await output(['\u001b[31mred\u001b[0m \u001b]0;title\u0007x\n'])).lines).toEqual(['red x']);
  });

  it('has long lines cut, also without an end', async () => {
    const { lines } = await output([
      'x'.repeat(500),
      '\n',
      'y'.repeat(400),
      'y'.repeat(400),
      '\nz\n',
      'w'.repeat(9999),
    ]);
    expect(lines).toEqual(['x'.repeat(500), `${'y'.repeat(500)}…`, 'z', `${'w'.repeat(500)}…`]);
  });

  it('has lines too many left out and counted, but the last ones kept', async () => {
    const { lines, leftOut, tail } = await output([
      `${numbers(1, 150).join('\n')}\n`,
      `${numbers(151, 5000).join('\n')}\n`,
    ]);
    expect(lines).toEqual(numbers(1, 200));
    expect(leftOut).toBe(4800);
    expect(tail).toEqual(numbers(4981, 5000));
  });

  it('counts every line once, however it is cut into chunks', async () => {
    const text = `${numbers(1, 3000).join('\n')}\nlast`;
    for (const size of [1, 2, 3, 7, 100, 1000]) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
        text.slice(at * size, (at + 1) * size),
      );
      const { lines, leftOut, tail } = await output(chunks);
      expect(lines.length + leftOut).toBe(3001);
      expect(tail).toEqual([...numbers(2982, 3000), 'last']);
    }
  });

  it('that comes too fast has to wait, but not when the command has ended', async () => {
    const read = new HookOutput({ line: () => {}, leftOut: () => {} }, systemClock);
    const stream = new PassThrough();
    read.read('stderr', stream);
    stream.write(`${'x'.repeat(2_000_000)}\n`);
    stream.write('last\n');
    await turn();
    expect(stream.isPaused()).toBe(true);
    expect(read.tail).not.toContain('last');
    read.hurry();
    await turn();
    expect(read.tail.at(-1)).toBe('last');
  });
});
