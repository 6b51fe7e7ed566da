import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isFromAgent, isToAgent } from '../../src/guardian/messages.js';
import { hookEnvironment } from '../../src/hooks/environment.js';
import { isFromGuards, isFromSupervisor, isToGuards, isToSupervisor } from '../../src/hooks/messages.js';
import { HookOutput } from '../../src/hooks/output.js';
import { systemClock } from '../../src/ports/clock.js';
import { cuts, pieces } from '../support/mutations.js';
import { anyJson, anyText, holds, spoilt } from '../support/properties.js';
import { context } from './hook-context.js';

const request = {
  id: 3,
  leadership: 1,
  phase: 'takeover',
  term: 3,
  slot: null,
  name: 'onTakeover',
  command: { program: '/bin/true', args: ['x'], text: '/bin/true x' },
  foreground: false,
  env: { PETREL_PHASE: 'takeover' },
  timeoutMs: 5,
  graceMs: 5,
};
const outcome = {
  result: 'failed',
  exitCode: 1,
  signal: null,
  durationMs: 3.5,
  command: '/bin/true x',
  error: 'exit code 1',
  outputTail: ['no'],
  provenDead: true,
};

const isText = (value: unknown) => typeof value === 'string';
const number = z.number();
const group = z.int().min(2);
const requests = z.object({
  id: number,
  leadership: number,
  phase: z.enum(['prepare', 'takeover', 'release', 'fence']),
  term: number,
  slot: number.nullable(),
  name: z.string(),
  command: z.object({ program: z.string(), args: z.array(z.string()), text: z.string() }).nullable(),
  foreground: z.boolean(),
  env: z.custom((env) => env instanceof Object && !Array.isArray(env) && Object.values(env).every(isText)),
  timeoutMs: number,
  graceMs: number,
});
const outcomes = z.object({
  result: z.enum(['ok', 'failed', 'timed-out', 'aborted']),
  exitCode: number.nullable(),
  signal: z.string().nullable(),
  durationMs: number,
  command: z.string().nullable(),
  error: z.string().nullable(),
  outputTail: z.array(z.string()),
  provenDead: z.boolean(),
});

/** The required content of a message, defined independently of the implementation. */
const toSupervisor = z.discriminatedUnion('type', [
  z.object({ type: z.literal('run'), request: requests }),
  z.object({ type: z.literal('abort'), id: number, reason: z.string(), killAtMs: number.nullable() }),
  z.object({ type: z.literal('guard'), release: requests, begun: z.boolean() }),
  z.object({ type: z.literal('lease'), leadership: number, releaseAtMs: number, endsAtMs: number }),
  z.object({ type: z.literal('end-leadership'), leadership: number }),
  z.object({ type: z.literal('adopt'), pgid: group }),
]);
const fromSupervisor = z.discriminatedUnion('type', [
  z.object({ type: z.literal('started'), id: number, pgid: group }),
  z.object({ type: z.literal('gone'), pgid: group }),
  z.object({ type: z.literal('line'), id: number, stream: z.enum(['stdout', 'stderr']), text: z.string() }),
  z.object({ type: z.literal('left-out'), id: number, lines: number }),
  z.object({ type: z.literal('outcome'), id: number, outcome: outcomes }),
  z.object({
    type: z.literal('lease-ended'),
    leadership: number,
    outcome: outcomes,
    leaseLeftMs: number.nullable(),
  }),
  z.object({ type: z.literal('workload-ended'), leadership: number, outcome: outcomes }),
]);

const text = z.string().nullable();
const count = z.int().min(0);
const tlsParts = z.object({ ca: text, cert: text, key: text, passphrase: text });
const fromAgent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('begin'), group: count, root: z.string() }),
  ...toSupervisor.options.map((option) => option.extend({ group: count })),
  z.object({ type: z.literal('clear'), group: count }),
  z.object({
    type: z.literal('hello'),
    node: z.string(),
    root: text,
    log: z.enum(['json', 'pretty']),
    codeAtDeath: number.nullable(),
    codeOnSignal: z.enum(['done', 'signal']),
  }),
  z.object({
    type: z.literal('session'),
    session: z.object({
      id: z.string().regex(/^-?[1-9]\d{0,18}$/),
      password: z.string(),
      timeoutMs: number,
      servers: z.array(z.object({ host: z.string(), port: number })),
      auth: text,
      tls: z
        .object({
          atStart: tlsParts,
          files: tlsParts,
          servername: text,
          rejectUnauthorized: z.boolean(),
        })
        .nullable(),
    }),
  }),
  z.object({ type: z.literal('session-over') }),
  z.object({ type: z.literal('ended'), code: number }),
  z.object({ type: z.literal('here') }),
  z.object({ type: z.literal('status'), joined: z.boolean(), text: z.string() }),
  z.object({ type: z.literal('reloaded') }),
]);
const toAgent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('cleared'), group: count }),
  ...fromSupervisor.options.map((option) => option.extend({ group: count })),
  z.object({ type: z.literal('signalled'), signal: z.enum(['SIGTERM', 'SIGINT', 'SIGHUP']) }),
  z.object({ type: z.literal('there?') }),
]);

const noParts = { ca: null, cert: null, key: null, passphrase: null };
const tls = {
  atStart: { ...noParts, ca: 'PEM' },
  files: { ...noParts, ca: '/etc/ca.pem' },
  servername: 'zk',
  rejectUnauthorized: true,
};
const session = {
  id: '-7',
  password: 'eA==',
  timeoutMs: 6000,
  longestTimeoutMs: 9000,
  servers: [{ host: 'zk1', port: 2181 }],
};

const good = {
  fromAgent: [
    { type: 'hello', node: 'a1', root: '/cluster', log: 'json', codeAtDeath: 7, codeOnSignal: 'signal' },
    { type: 'session', session: { ...session, tls, auth: 'petrel:secret' } },
    { type: 'session', session: { ...session, tls: null, auth: null } },
    { type: 'session-over' },
    { type: 'hello', node: 'a1', root: null, log: 'json', codeAtDeath: null, codeOnSignal: 'done' },
    { type: 'begin', group: 0, root: '/cluster' },
    { type: 'clear', group: 3 },
    { type: 'ended', code: 0 },
    { type: 'here' },
    { type: 'status', joined: true, text: 'leads' },
    { type: 'reloaded' },
  ],
  toAgent: [{ type: 'cleared', group: 0 }, { type: 'signalled', signal: 'SIGHUP' }, { type: 'there?' }],
  toSupervisor: [
    { type: 'run', request },
    { type: 'run', request: { ...request, command: null } },
    { type: 'abort', id: 3, reason: 'x', killAtMs: null },
    { type: 'guard', release: request, begun: true },
    { type: 'lease', leadership: 1, releaseAtMs: 1.5, endsAtMs: 2 },
    { type: 'end-leadership', leadership: 1 },
    { type: 'adopt', pgid: 4711 },
  ],
  fromSupervisor: [
    { type: 'started', id: 3, pgid: 4711 },
    { type: 'gone', pgid: 4711 },
    { type: 'line', id: 3, stream: 'stderr', text: 'x' },
    { type: 'left-out', id: 3, lines: 7 },
    { type: 'outcome', id: 3, outcome },
    { type: 'lease-ended', leadership: 1, outcome, leaseLeftMs: 7 },
    { type: 'lease-ended', leadership: 1, outcome, leaseLeftMs: null },
    { type: 'workload-ended', leadership: 1, outcome },
  ],
};

const ofGroup = (messages: readonly object[]) => messages.map((message) => ({ ...message, group: 7 }));

describe('a message between an agent and its supervisor, or its guardian,', () => {
  it.each([
    ['to the supervisor', isToSupervisor, toSupervisor, good.toSupervisor],
    ['from the supervisor', isFromSupervisor, fromSupervisor, good.fromSupervisor],
    ['to the guardian', isFromAgent, fromAgent, [...ofGroup(good.toSupervisor), ...good.fromAgent]],
    ['from the guardian', isToAgent, toAgent, [...ofGroup(good.fromSupervisor), ...good.toAgent]],
  ] as const)('%s is heeded if it is whole, and only then', async (_, isWhole, schema, examples) => {
    expect(examples.filter((message) => !isWhole(message))).toEqual([]);
    const messages = fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom<unknown>(...examples).chain(spoilt) },
      anyJson,
      fc.record({ type: fc.oneof(anyText, fc.constantFrom('run', 'constructor', 'toString')) }),
    );
    await holds(
      fc.property(messages, (message) => {
        expect(isWhole(message)).toBe(schema.safeParse(message).success);
      }),
      2,
    );
  });

  it.each([
    ['to the supervisor', isToSupervisor, good.toSupervisor],
    ['from the supervisor', isFromSupervisor, good.fromSupervisor],
    ['to the guardian', isFromAgent, good.fromAgent],
    ['from the guardian', isToAgent, good.toAgent],
  ] as const)('%s is refused if any of its fields is missing', (_, isWhole, examples) => {
    const spoiltExamples = examples.flatMap((message) =>
      Object.keys(message).map((key) => ({ ...message, [key]: undefined })),
    );
    expect(spoiltExamples.filter((message) => isWhole(message))).toEqual([]);
  });

  it('is heeded in every phase, with every result and from both streams', () => {
    for (const phase of ['prepare', 'takeover', 'release', 'fence'])
      expect(isToSupervisor({ type: 'run', request: { ...request, phase } })).toBe(true);
    for (const result of ['ok', 'failed', 'timed-out', 'aborted'])
      expect(isFromSupervisor({ type: 'outcome', id: 3, outcome: { ...outcome, result } })).toBe(true);
    for (const stream of ['stdout', 'stderr'])
      expect(isFromSupervisor({ type: 'line', id: 3, stream, text: 'x' })).toBe(true);
  });
});

describe('a message that would harm other processes or this one', () => {
  it.each([0, 1, -1, -4711, 1.5, 2 ** 53, '4711', null])('names process group %s, and is refused', (pgid) => {
    expect(isToSupervisor({ type: 'adopt', pgid })).toBe(false);
    expect(isFromSupervisor({ type: 'started', id: 3, pgid })).toBe(false);
  });

  it.each([
    ['a text', 'PETREL_PHASE=takeover'],
    ['a list', []],
    ['null', null],
    ['missing', undefined],
    ['a number among texts', { PETREL_PHASE: 'takeover', PETREL_TERM: 3 }],
  ])('has an environment that is %s, and is refused', (_, env) => {
    expect(isToSupervisor({ type: 'run', request: { ...request, env } })).toBe(false);
  });

  it('has a number among the arguments of its command, and is refused', () => {
    const command = { ...request.command, args: ['x', 3] };
    expect(isToSupervisor({ type: 'run', request: { ...request, command } })).toBe(false);
  });

  it('has a type that only reads like one when it is made a text, and is refused', () => {
    expect(isToSupervisor({ type: ['adopt'], pgid: 4711 })).toBe(false);
  });

  it.each([-1, 1.5, '0', null, undefined])('is about group number %s, and is refused', (number) => {
    expect(isToGuards({ type: 'clear', group: number })).toBe(false);
    expect(isFromGuards({ type: 'cleared', group: number })).toBe(false);
  });

  it('has a root that is not a text, and is refused', () => {
    expect(isToGuards({ type: 'begin', group: 0, root: '/cluster' })).toBe(true);
    expect(isToGuards({ type: 'begin', group: 0, root: null })).toBe(false);
  });
});

describe('what a command writes', () => {
  it('is reported line by line, whatever its bytes and wherever they are cut', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .array(fc.oneof(anyText, fc.constantFrom('\n', '\r\n', '\u001b[2J', '\u001b]0;x\u0007')), {
          maxLength: 8,
        })
        .map((texts) => Buffer.from(texts.join('')).subarray(0, 4000)),
    );
    await holds(
      fc.asyncProperty(bytes, cuts, async (written, shares) => {
        const lines: string[] = [];
        let leftOut = 0;
        const listener = {
          line: (_: string, text: string) => lines.push(text),
          leftOut: (n: number) => (leftOut += n),
        };
        const output = new HookOutput(listener, systemClock);
        const stream = new PassThrough();
        output.read('stdout', stream);
        for (const piece of pieces(Buffer.from(written), shares)) stream.write(piece);
        stream.end();
        await finished(stream);
        const expected = Buffer.from(written).toString('utf8').split('\n');
        if (expected.at(-1) === '') expected.pop();
        expect(lines.length + leftOut).toBe(expected.length);
        expect(
          lines.every((line, index) => line.length <= 501 && isShownOf(line, expected[index] ?? '')),
        ).toBe(true);
        expect(output.tail.length).toBeLessThanOrEqual(20);
        if (leftOut === 0) expect(output.tail).toEqual(lines.slice(-20));
      }),
    );
  });
});

/** Whether `shown` is the line without terminal control sequences, either complete or cut. */
function isShownOf(shown: string, line: string): boolean {
  const cut = line.length > 500 ? `${line.slice(0, 500)}…` : line;
  const text = stripVTControlCharacters(cut);
  return shown === (text.endsWith('\r') ? text.slice(0, -1) : text);
}

describe('the environment of a hook', () => {
  it('is one that the system accepts, whatever it contains', async () => {
    const texts = fc.record({ reason: anyText, target: anyText, previousLeader: anyText, site: anyText });
    await holds(
      fc.property(texts, (change) => {
        const environment = hookEnvironment(context('release', change));
        expect(Object.values(environment).filter((text) => text.includes('\0'))).toEqual([]);
        expect(Buffer.byteLength(environment.PETREL_REASON ?? '')).toBeLessThan(10_000);
      }),
    );
  });
});
