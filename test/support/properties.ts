/**
 * Property tests: statements that must be true for every input, checked on many. The seed determines the
 * inputs of a run. The seed is constant unless PETREL_TEST_SEED is set. PETREL_TEST_RUNS changes the number
 * of inputs. A failure prints the seed and the smallest input that fails.
 */
import fc from 'fast-check';
import { stringify } from 'yaml';

const usualRuns = 100;
const seed = Number(process.env.PETREL_TEST_SEED ?? 1);
const runs = Number(process.env.PETREL_TEST_RUNS ?? usualRuns);

/**
 * Checks a property. `share` is the fraction of the usual number of inputs: less than 1 if each input takes
 * long.
 */
export async function holds<Inputs>(property: fc.IRawProperty<Inputs>, share = 1): Promise<void> {
  const numRuns = Math.max(1, Math.ceil(runs * share));
  const details = await fc.check(property, { seed, numRuns });
  expectCleanPrototypes();
  if (!details.failed) return;
  const { counterexample, counterexamplePath, errorInstance: cause } = details;
  const why = cause instanceof Error ? cause.message : String(cause);
  const inputs = fc.stringify(counterexample).slice(0, longestReport);
  throw new Error(
    `${why}\nPETREL_TEST_SEED=${seed}, path ${counterexamplePath}, after ${details.numRuns} inputs: ${inputs}`,
    { cause },
  );
}

const longestReport = 2000;

const prototypes = [Object.prototype, Array.prototype, Function.prototype];
const clean = prototypes.map((prototype) => Reflect.ownKeys(prototype).length);

/** Fails if an input has polluted a prototype that all objects share. */
function expectCleanPrototypes(): void {
  const now = prototypes.map((prototype) => Reflect.ownKeys(prototype).length);
  if (now.join() !== clean.join() || 'polluted' in {}) throw new Error('a prototype was polluted');
}

/** Keys that have a meaning on every object. */
export const treacherousKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
  'length',
  'then',
  'toJSON',
] as const;

/** Any text: plain, of any code points, made of treacherous keys, or long. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
  fc.constantFrom(...treacherousKeys, '', ' ', '\0', '\n', '.', '..', '/', '-', '\u2028', '\ud800'),
  fc
    .tuple(fc.string({ minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 20_000 }))
    .map(([unit, times]) => unit.repeat(times)),
);

/** Any value that JSON can contain, including hostile keys and depths. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  anyText,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(null, true, 0, -1, 2 ** 31, 2 ** 53, -(2 ** 53), 1e300, 0.5, '', [], {}),
  fc.constantFrom(5, 70, 30_000).map((depth) => nested(depth)),
  fc.tuple(fc.constantFrom(...treacherousKeys), fc.jsonValue({ maxDepth: 1 })).map(([key, value]) => {
    return withKey({}, key, value);
  }),
);

/** Returns `depth` lists, each inside the next. */
export function nested(depth: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < depth; level++) value = [value];
  return value;
}

/** Returns the JSON text of a value. Unlike JSON.stringify, this function has no limit on depth. */
export function jsonText(value: unknown): string {
  let inner = value;
  let depth = 0;
  while (Array.isArray(inner) && inner.length === 1) {
    inner = inner[0];
    depth += 1;
  }
  if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
    const entries = Object.entries(inner).map(([key, part]) => `${JSON.stringify(key)}:${jsonText(part)}`);
    return `${'['.repeat(depth)}{${entries.join(',')}}${']'.repeat(depth)}`;
  }
  const text = Array.isArray(inner) ? `[${inner.map(jsonText).join(',')}]` : JSON.stringify(inner);
  return `${'['.repeat(depth)}${text}${']'.repeat(depth)}`;
}

/** A valid value in which one part is changed, left out or added. */
export function spoilt(value: unknown): fc.Arbitrary<unknown> {
  const places = placesIn(value);
  return fc
    .tuple(fc.constantFrom(...places), fc.constantFrom('put', 'drop', 'add'), anyJson, anyText)
    .map(([place, how, malformed, key]) => {
      if (how === 'put') return changed(value, place, () => malformed);
      if (how === 'drop') return changed(value, place, () => undefined);
      return changed(value, place, (part) => (isObject(part) ? withKey(part, key, malformed) : malformed));
    });
}

/** Returns the path of every part of a value, including the value itself. */
function placesIn(value: unknown): string[][] {
  if (!isObject(value)) return [[]];
  return [
    [],
    ...Object.entries(value).flatMap(([key, part]) => placesIn(part).map((place) => [key, ...place])),
  ];
}

function changed(
  value: unknown,
  [key, ...rest]: readonly string[],
  change: (part: unknown) => unknown,
): unknown {
  if (key === undefined || !isObject(value)) return change(value);
  const part = Object.entries(value).find(([name]) => name === key)?.[1];
  const next = changed(part, rest, change);
  if (Array.isArray(value)) return value.flatMap((one, index) => (String(index) === key ? [next] : [one]));
  const others = Object.entries(value).filter(([name]) => name !== key);
  return Object.fromEntries(next === undefined ? others : [...others, [key, next]]);
}

function withKey(value: object, key: string, part: unknown): object {
  return Object.fromEntries([...Object.entries(value), [key, part]]);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Throws if a message is useless to an operator because it is empty or too long. */
export function expectClear(message: string, longest = 8000): void {
  if (message.trim() === '') throw new Error('an empty message');
  if (message.length > longest) throw new Error(`a message of ${message.length} characters`);
  if (/maximum call stack|is not a function|cannot read prop|undefined \(reading|\[object /i.test(message)) {
    throw new Error(`a message about the code, not about the input: ${message}`);
  }
}

/** YAML text of `values`, and of what only YAML has: anchors, tags, several documents, depth, garbage. */
export function yamlText(values: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const oddities = [
    'a: *nowhere',
    '&a [*a, *a]',
    'strategyOptions: &a {x: *a}',
    'strategyOptions: {x: &a [*a, *a]}',
    `a: &a [${'x, '.repeat(20)}]\nb: &b [${'*a, '.repeat(20)}]\nc: &c [${'*b, '.repeat(20)}]\ntags: [${'*c, '.repeat(20)}]`,
    '--- {}\n--- {}',
    '!!binary aGFsbG8=',
    'tags: !!set {a, b}',
    'priority: !!float 1',
    'minLeadership: !!timestamp 2026-01-01',
    'tags: {<<: {a: b}}',
    '? [a, b]\n: c',
    '? {a: b}\n: c',
    'tags: {a: 1, a: 2}',
    '%YAML 9.9\n---\n{}',
    '\ufefftags: {}',
    'null: 1',
    '~',
    '[]',
    '7',
    `tags: ${'['.repeat(20_000)}`,
    `${'- '.repeat(5000)}x`,
    `${'{a: '.repeat(3000)}`,
    '"\\ud800": 1',
    'root: |\n  /a\n  b',
    `${'x'.repeat(50_000)}: 1`,
  ];
  return fc.oneof(
    {
      weight: 4,
      arbitrary: values.filter((value) => depthOf(value) < 100).map((value) => stringify(value ?? null)),
    },
    values.map(jsonText),
    { weight: 2, arbitrary: fc.constantFrom(...oddities) },
    anyText,
  );
}

/** Returns the depth of nested lists. Ignores objects. */
function depthOf(value: unknown): number {
  let depth = 0;
  let inner = isObject(value) ? Object.values(value) : [];
  while (inner.length > 0 && depth < 100) {
    inner = inner.filter(isObject).flatMap((part) => Object.values(part));
    depth += 1;
  }
  return depth;
}
