import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { HookOutput } from '../../src/hooks/output.js';
import { systemClock } from '../../src/ports/clock.js';
import { HandClock } from '../support/hand-clock.js';

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

/** Reads a stream in time that only the test moves, and records what the listener receives. */
function reading() {
  const clock = new HandClock();
  const heard: string[] = [];
  const listener = {
    line: (_: string, text: string) => heard.push(text),
    leftOut: (count: number) => heard.push(`${count} left out`),
  };
  const read = new HookOutput(listener, clock);
  const stream = new PassThrough();
  read.read('stdout', stream);
  const write = async (chunk: string) => {
    stream.write(chunk);
    await turn();
  };
  return { clock, heard, read, stream, write };
}

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

  it('is passed on again one second later, after a report of what was left out', async () => {
    const { clock, heard, write } = reading();
    clock.freeze(5_000);
    await write(`${numbers(1, 200).join('\n')}\n`);
    await clock.advance(999);
    await write('too\nmany\n');
    expect(heard).toEqual(numbers(1, 200));
    await clock.advance(1);
    await write('next\n');
    expect(heard.slice(200)).toEqual(['2 left out', 'next']);
    await clock.advance(1_000);
    await write('last\n');
    expect(heard.slice(202)).toEqual(['last']);
  });

  it('of which nothing was left out ends without a report of that', async () => {
    const { heard, stream, write } = reading();
    await write('one\n');
    stream.end();
    await finished(stream);
    expect(heard).toEqual(['one']);
  });

  it('keeps its last lines whole, whatever came before them', async () => {
    const { read, write } = reading();
    await write(`${numbers(1, 200).join('\n')}\nbegun`);
    await write(`, and ended\n${numbers(201, 219).join('\n')}\n`);
    expect(read.tail).toEqual(['begun, and ended', ...numbers(201, 219)]);
    await write('begun');
    await write(`, and ended\n${numbers(220, 250).join('\n')}\n`);
    expect(read.tail).toEqual(numbers(231, 250));
  });

  it('waits after 1 MiB until a tenth of a second has passed', async () => {
    const { clock, stream, write } = reading();
    const half = 'x'.repeat(512 * 1024);
    clock.freeze(5_000);
    await write(half);
    expect(stream.isPaused()).toBe(false);
    await clock.advance(60);
    await write(half);
    expect(stream.isPaused()).toBe(true);
    await clock.advance(39);
    expect(stream.isPaused()).toBe(true);
    await clock.advance(1);
    expect(stream.isPaused()).toBe(false);
    await write(half);
    expect(stream.isPaused()).toBe(false);
    await write(half);
    expect(stream.isPaused()).toBe(true);
  });

  it('may break off with an error, and keeps the lines before it', async () => {
    const { read, stream, write } = reading();
    await write('one\n');
    expect(() => stream.emit('error', new Error('EPIPE'))).not.toThrow();
    expect(read.tail).toEqual(['one']);
  });
});
