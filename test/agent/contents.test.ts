/** `Contents` returns the same value for the same bytes. It parses other bytes again. */

import { describe, expect, it } from 'vitest';
import { Contents } from '../../src/agent/snapshot/contents.js';
import { parseJson } from '../../src/model/names.js';
import { registrationSchema } from '../../src/model/registration.js';
import { examples } from '../support/znode-examples.js';

const bytes = (content: unknown) => Buffer.from(JSON.stringify(content));
const path = '/group/nodes/a1';

describe('the content of a znode', () => {
  it('is what its schema makes of it', () => {
    const data = bytes(examples.registration);
    const parsed = parseJson(registrationSchema, data.toString('utf8'));
    expect(new Contents().registration(path, data)).toEqual(parsed);
  });

  it('is the same value as long as the bytes are the same', () => {
    const contents = new Contents();
    const first = contents.registration(path, bytes(examples.registration));
    expect(contents.registration(path, bytes(examples.registration))).toBe(first);
  });

  it('is parsed again when a byte differs, and when the old bytes are back', () => {
    const contents = new Contents();
    const read = (priority: number) =>
      contents.registration(path, bytes({ ...examples.registration, priority })).value?.priority;
    expect([read(1), read(2), read(1)]).toEqual([1, 2, 1]);
  });

  it('says of malformed content what is wrong with it, and of what comes after it what that is', () => {
    const contents = new Contents();
    expect(contents.claim(path, Buffer.from('{'))).toEqual({ value: null, problem: 'invalid JSON' });
    expect(contents.claim(path, bytes(examples.claim)).value?.status).toBe('READY');
  });

  it('of one path is not that of another', () => {
    const contents = new Contents();
    const of = (node: string) =>
      contents.registration(`/group/nodes/${node}`, bytes({ ...examples.registration, node })).value?.node;
    expect([of('a1'), of('b1'), of('a1')]).toEqual(['a1', 'b1', 'a1']);
  });

  it('cannot be changed by those who receive it', () => {
    const { value } = new Contents().config('/group/config', bytes(examples.config));
    expect(value).not.toBeNull();
    expect(() => Object.assign(value?.sites.a ?? {}, { priority: 9 })).toThrow(TypeError);
  });
});
