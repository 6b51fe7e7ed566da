import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { answered as answeredBy } from '../../src/own-strategies/asker.js';
import type { OwnStrategy as Strategy } from '../../src/own-strategies/own-strategy.js';
import { samples } from '../../src/own-strategies/samples.js';
import { builtInRules, strategies } from '../../strategies/index.js';
import { builtModule } from '../support/built.js';
import { answeredInTime } from '../support/own-rules.js';
import { until } from '../support/until.js';

let dir = '';
/** Uses the built module. From its sources, the thread of every strategy would compile them again. */
let program = '';
let OwnStrategy: typeof Strategy;
let answered: typeof answeredBy;
beforeAll(async () => {
  program = pathToFileURL(await builtModule('own-strategies/own-strategy.js')).href;
  ({ OwnStrategy } = await import(program));
  ({ answered } = await import(pathToFileURL(await builtModule('own-strategies/asker.js')).href));
  dir = await mkdtemp(join(tmpdir(), 'petrel-own-'));
});
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

const options = 'options: { safeParse: (data) => ({ success: true, data }) }';
const inOrder = 'candidates.map(({ node }, grade) => ({ node, grade, reason: "in order" }))';
const [, , three = samples[0]] = samples;

/** Writes a module whose strategy ranks by this function body. Returns the URL of the module. */
async function moduleOf(body: string, more = ''): Promise<string> {
  const path = join(dir, `${Math.random().toString(36).slice(2)}.mjs`);
  await writeFile(
    path,
    `export default { name: 'mine', description: 'of my own', ${options}, rank({ candidates, options }) { ${body} }, ${more} };`,
  );
  return pathToFileURL(path).href;
}

/**
 * Returns the ranking by `strategy` with these options. If the options are invalid, returns their problems.
 */
async function rankedBy(strategy: Strategy, given: unknown = {}) {
  const known = { ...builtInRules, strategies: new Map([...strategies, [strategy.name, strategy]]) };
  return await answered(known, (rules) => {
    const { strategy: ready, problems } = strategy.prepare(given, rules);
    if (ready === null) return problems.join('; ');
    if (three === undefined) throw new Error('there is no sample');
    return ready.rank(three);
  });
}

/** Returns the first ranking that a new strategy returns in time. */
async function ranked(body: string) {
  return await firstAnswer(body, (strategy) => answeredInTime(() => rankedBy(strategy)));
}

async function firstAnswer<T>(body: string, ask: (strategy: Strategy) => Promise<T>): Promise<T> {
  const strategy = await OwnStrategy.load(await moduleOf(body));
  try {
    return await ask(strategy);
  } finally {
    await strategy.close();
  }
}

describe('a strategy of a user’s own', () => {
  it('ranks like any other, and publishes its version with a digest of its text', async () => {
    const strategy = await OwnStrategy.load(await moduleOf(`return ${inOrder}`, 'version: "1.2"'));
    expect(strategy).toMatchObject({ name: 'mine', description: 'of my own' });
    expect(strategy.version).toMatch(/^1\.2\+[0-9a-f]{12}$/);
    const other = await OwnStrategy.load(await moduleOf(`return ${inOrder} `, 'version: "1.2"'));
    expect(other.version).not.toBe(strategy.version);
    await Promise.all([strategy.close(), other.close()]);
    expect(await ranked(`return ${inOrder}`)).toEqual([
      { node: 'a1', grade: 0, reason: 'in order' },
      { node: 'a2', grade: 1, reason: 'in order' },
      { node: 'b1', grade: 2, reason: 'in order' },
    ]);
  });

  it.each([
    ['the clock', 'Date.now()', 'now'],
    ['the date', 'new Date()', 'new Date()'],
    ['chance', 'Math.random()', 'random'],
    ['timers', 'setTimeout(() => {})', 'setTimeout'],
    ['the network', 'fetch("http://localhost")', 'fetch'],
  ])('that goes by %s is found out', async (_, impure, what) => {
    expect(await ranked(`${impure}; return ${inOrder}`)).toContain(
      `strategy mine failed: a strategy must be a pure function and cannot use ${what}`,
    );
  });

  it('that remembers is found out, and one that changes what it is given', async () => {
    const remembers = 'globalThis.turn = (globalThis.turn ?? 0) + 1; const grade = globalThis.turn;';
    expect(await ranked(`${remembers} return ${inOrder.replace('grade)', 'at)')}`)).toContain(
      'rank returns different results for the same input',
    );
    expect(await ranked(`candidates.reverse(); return ${inOrder}`)).toMatch(
      /strategy mine failed: .*read only/,
    );
  });

  it('may make dates of what it is given', async () => {
    expect(await ranked(`new Date(0).getTime(); return ${inOrder}`)).toHaveLength(3);
  });

  it('that does not end stops nobody, and is there again after that', async () => {
    const body = `while (options.loops) {} return ${inOrder}`;
    const strategy = await OwnStrategy.load(await moduleOf(body));
    const [late, after] = await Promise.all([rankedBy(strategy, { loops: true }), rankedBy(strategy)]);
    expect(late).toBe('strategy mine failed: the module did not respond within 250 ms');
    expect(after).toBe('strategy mine failed: the module did not respond in time, and is being restarted');
    const ranking = await until(async () => {
      const answer = await rankedBy(strategy);
      return typeof answer !== 'string' && answer;
    });
    expect(ranking).toHaveLength(3);
    await strategy.close();
  });

  it('that does not end lets everything else in the process go on', async () => {
    const strategy = await OwnStrategy.load(await moduleOf(`while (options.loops) {} return ${inOrder}`));
    let turns = 0;
    const count = () => {
      turns += 1;
      immediate = setImmediate(count);
    };
    let immediate = setImmediate(count);
    // Repeated, because on a busy machine this process may have had no turn within the limit.
    await until(async () => {
      turns = 0;
      const answer = await rankedBy(strategy, { loops: true });
      return String(answer).includes('did not respond within') && turns > 10;
    });
    clearImmediate(immediate);
    await strategy.close();
  });

  it('that ends its thread, or fills its memory, harms nobody else', async () => {
    const fills = 'const all = []; for (;;) all.push(new Array(100000).fill(0))';
    for (const body of ['process.exit(1)', fills]) {
      expect(await firstAnswer(body, rankedBy)).toMatch(
        /strategy mine failed: the module did not respond within/,
      );
    }
  });

  it('that answers nonsense is answered with what is wrong', async () => {
    expect(await ranked('return candidates.map(() => ({ node: 1 }))')).toMatch(/0\.node/);
    const promised = `return Promise.resolve(${inOrder})`;
    expect(await ranked(promised)).toContain('rank returned a promise');
    const tooMany = 'return new Array(1_000_000).fill({ node: "a1", grade: 0, reason: "many" })';
    expect(await ranked(tooMany)).toContain('rank received 0 nodes but returned 1000000');
    const long = `return ${inOrder.replace('"in order"', '"x".repeat(2_000_000)')}`;
    expect(await ranked(long)).toMatch(/0\.reason/);
  });

  it('may answer with more than is requested, though that could not be sent', async () => {
    expect(await ranked(`return ${inOrder.replace('grade,', 'grade, why() {},')}`)).toHaveLength(3);
  });

  it('that was changed on disk is not started again in place of the one that was loaded', async () => {
    const url = await moduleOf(`while (options.loops) {} return ${inOrder}`);
    const text = await readFile(fileURLToPath(url), 'utf8');
    const strategy = await OwnStrategy.load(url);
    expect(await answeredInTime(() => rankedBy(strategy))).toHaveLength(3);
    const problem = (what: string) => until(async () => String(await rankedBy(strategy)).includes(what));
    await writeFile(fileURLToPath(url), `${text} `);
    await rankedBy(strategy, { loops: true });
    await problem('its module has changed since');
    await rm(fileURLToPath(url));
    await problem('no such file');
    await writeFile(fileURLToPath(url), text);
    await until(async () => typeof (await rankedBy(strategy)) !== 'string');
    await strategy.close();
  });

  it('prints nothing where the output of a command goes', async () => {
    const url = await moduleOf(`return ${inOrder}`, 'version: (console.log("chatty"), "1")');
    const load = `const { OwnStrategy } = await import(${JSON.stringify(program)}); await (await OwnStrategy.load(${JSON.stringify(url)})).close();`;
    const args = ['--input-type=module', '-e', load];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
    expect({ stdout, stderr }).toEqual({ stdout: '', stderr: 'chatty\n' });
  });

  it.each([
    ['no module', 'throw new Error("broken")', 'broken'],
    ['no strategy', 'export default { name: "mine" }', 'the default export is not a strategy'],
    [
      'a name that will not do',
      `export default { name: 'M y', description: 'x', ${options}, rank() {} }`,
      'lowercase letters',
    ],
  ])('that is %s is refused when it is loaded', async (_, text, problem) => {
    const path = join(dir, `${Math.random().toString(36).slice(2)}.mjs`);
    await writeFile(path, text);
    await expect(OwnStrategy.load(pathToFileURL(path).href)).rejects.toThrow(problem);
  });
});
