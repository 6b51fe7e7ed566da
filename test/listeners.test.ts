import { Writable } from 'node:stream';
import pino from 'pino';
import { expect, it } from 'vitest';
import { Listeners } from '../src/listeners.js';

const ways: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error('a bug');
  },
  'is async and rejects': async () => {
    throw new Error('a bug');
  },
};

/** An unhandled rejection would fail the test run. */
it.each(Object.entries(ways))('A11 a listener that %s harms nobody, and is reported', async (_, fail) => {
  const logged: unknown[] = [];
  const heard: number[] = [];
  const listeners = new Listeners<number>({ warn: (fields, text) => logged.push([fields, text]) }, 'numbers');
  listeners.add(fail);
  const unsubscribe = listeners.add((value) => heard.push(value));
  listeners.notify(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(logged).toEqual([[{ err: new Error('a bug') }, 'a listener of numbers failed: a bug']]);
  unsubscribe();
  listeners.notify(2);
  expect(heard).toEqual([1]);
});

/** Values that throw when `errorMessage` or a logger reads them. */
const unreadable: Readonly<Record<string, unknown>> = {
  'an object without a prototype': Object.create(null),
  'an error whose message throws': Object.defineProperty(new Error('hidden'), 'message', {
    get() {
      throw new Error('no message');
    },
  }),
};

it.each(Object.entries(unreadable))('A11 nor does one that throws %s', async (_, thrown) => {
  const log = pino({}, new Writable({ write: (_chunk, _encoding, done) => done() }));
  const listeners = new Listeners<number>(log, 'numbers');
  const heard: number[] = [];
  listeners.add(() => {
    throw thrown;
  });
  listeners.add(async () => {
    throw thrown;
  });
  listeners.add((value) => heard.push(value));
  listeners.notify(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(heard).toEqual([1]);
});
