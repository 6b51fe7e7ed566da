import { describe, expect, it } from 'vitest';
import { JuteWriter } from '../../src/embedded/jute.js';
import { FrameReader } from '../../src/zookeeper/frames.js';

const frame = (text: string) => new JuteWriter().buffer(Buffer.from(text)).bytes();
const texts = (frames: readonly Buffer[]) => frames.map((one) => one.toString());

describe('the frames of a stream', () => {
  const sent = ['first', '', 'the third frame', '4'];
  const stream = Buffer.concat(sent.map(frame));

  it.each([1, 2, 3, 4, 5, 7, 11, 1_000])('are the same if it arrives in pieces of %i bytes', (size) => {
    const reader = new FrameReader();
    const got: Buffer[] = [];
    for (let at = 0; at < stream.length; at += size) got.push(...reader.push(stream.subarray(at, at + size)));
    expect(texts(got)).toEqual(sent);
  });

  it('are the same if it arrives in two pieces, wherever it is cut', () => {
    for (let cut = 0; cut <= stream.length; cut += 1) {
      const reader = new FrameReader();
      const got = [...reader.push(stream.subarray(0, cut)), ...reader.push(stream.subarray(cut))];
      expect(texts(got), `cut at ${cut}`).toEqual(sent);
    }
  });

  it('are the same if a piece is larger than the one before it, or smaller', () => {
    for (const sizes of [
      [1, 2, 4, 8, 100],
      [16, 8, 4, 2, 1, 100],
      [9, 1, 9, 1, 100],
    ]) {
      const reader = new FrameReader();
      const got: Buffer[] = [];
      let at = 0;
      for (const size of sizes) {
        got.push(...reader.push(stream.subarray(at, at + size)));
        at += size;
      }
      expect(texts(got), `pieces of ${sizes}`).toEqual(sent);
    }
  });

  it('may be as long as the limit, and not one byte longer', () => {
    expect(texts(new FrameReader(5).push(frame('12345')))).toEqual(['12345']);
    expect(() => new FrameReader(5).push(frame('123456'))).toThrow(
      'a frame with a length of 6 bytes, expected 0 to 5',
    );
    expect(() => new FrameReader(5).push(Buffer.from([255, 255, 255, 255]))).toThrow('a length of -1 bytes');
  });

  it('are refused by their length alone, before their content has arrived', () => {
    expect(() => new FrameReader(5).push(Buffer.from([0, 0, 0, 6]))).toThrow('a length of 6 bytes');
  });
});
