/**
 * User-defined constraints. Each runs in a thread, is queried about all nodes together, and must keep its
 * contract.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgeAll } from '../../src/core/constraint.js';
import { nowhereElse } from '../../src/core/elsewhere.js';
import { prepareConstraints } from '../../src/model/read-config.js';
import type { answered as answeredBy } from '../../src/own-strategies/asker.js';
import type { OwnConstraint as Constraint } from '../../src/own-strategies/own-constraint.js';
import { builtInRules } from '../../strategies/index.js';
import { byHand, config, epoch0Ms, member, members, unreadable } from '../core/builders.js';
import { builtModule } from '../support/built.js';
import { answeredInTime } from '../support/own-rules.js';
import { until } from '../support/until.js';

let dir = '';
/** Uses the built module. From its sources, the thread of every constraint would compile them again. */
let OwnConstraint: typeof Constraint;
let answered: typeof answeredBy;
const loaded: Constraint[] = [];
beforeAll(async () => {
  const built = async (name: string) =>
    await import(pathToFileURL(await builtModule(`own-strategies/${name}.js`)).href);
  ({ OwnConstraint } = await built('own-constraint'));
  ({ answered } = await built('asker'));
  dir = await mkdtemp(join(tmpdir(), 'petrel-own-'));
});
afterAll(async () => {
  await Promise.all(loaded.map((constraint) => constraint.close()));
  await rm(dir, { recursive: true, force: true });
});

async function written(text: string): Promise<string> {
  const path = join(dir, `${Math.random().toString(36).slice(2)}.mjs`);
  await writeFile(path, text);
  return pathToFileURL(path).href;
}

/** Returns a constraint whose `check` function has this body. */
async function constraintOf(body: string, more = ''): Promise<Constraint> {
  const url = await written(
    `export default { name: 'mine', description: 'of my own', check({ node, tags, sitePriority }, { config, flags, elected, minuteOfDay }) { ${body} }, ${more} };`,
  );
  const constraint = await OwnConstraint.load(url);
  loaded.push(constraint);
  return constraint;
}

/** Members of the group. b1 is a spare. c1 is unreadable, so the constraint is not queried about it. */
const group = [
  ...members('a1', member('b1', { tags: { spare: 'yes' } })),
  { ...member('c1'), ...unreadable() },
];

/** Returns the findings about each node of the group, and the nodes in each query of the constraint. */
async function judged(constraint: Constraint, settings: Parameters<typeof config>[0] = {}) {
  const queries: string[][] = [];
  const own = {
    ...{ name: constraint.name, version: constraint.version },
    prepare: constraint.prepare.bind(constraint),
    ask: async (question: Parameters<Constraint['ask']>[0]) => {
      queries.push(question.input.nodes.map(({ node }) => node));
      return await constraint.ask(question);
    },
  };
  const known = { ...builtInRules, ownConstraints: new Map([[own.name, own]]) };
  const read = config({ constraints: ['mine'], ...settings });
  const all = await answered(known, (rules) => {
    const { constraints, problems } = prepareConstraints(read, rules);
    if (constraints === null) throw new Error(problems.join('; '));
    return judgeAll(group, constraints, {
      ...{ config: read, failures: [], nowMs: epoch0Ms, neighbour: null },
      ...{ elsewhere: nowhereElse, elected: new Set(['a1']) },
    });
  });
  return {
    queries,
    found: all.slice(0, 2).map(({ member: { node }, ineligibleReasons, softReasons }) => ({
      node,
      ineligibleReasons,
      softReasons,
    })),
  };
}

const spare = (strength: string) =>
  `return 'spare' in tags ? { strength: '${strength}', reason: 'it is a spare' } : null`;

describe('a constraint of a user’s own', () => {
  it('that is hard keeps a node from leading, and is queried once about all nodes', async () => {
    const constraint = await constraintOf(spare('hard'));
    const { found, queries } = await answeredInTime(() => judged(constraint));
    expect(queries).toEqual([['a1', 'b1']]);
    const ineligibleReason = { kind: 'mine', reason: 'it is a spare', ends: 'planned', canBeForced: true };
    expect(found).toEqual([
      { node: 'a1', ineligibleReasons: [], softReasons: [] },
      { node: 'b1', ineligibleReasons: [ineligibleReason], softReasons: [] },
    ]);
  });

  it('that is soft ranks a node last', async () => {
    const constraint = await constraintOf(spare('soft'));
    const { found } = await answeredInTime(() => judged(constraint));
    expect(found).toMatchObject([
      { softReasons: [] },
      { ineligibleReasons: [], softReasons: ['it is a spare'] },
    ]);
  });

  it('says what it puts an end to, whether force overrides it, and when it may answer otherwise', async () => {
    const constraint = await constraintOf(
      spare('hard'),
      'ends: "failure", canBeForced: false, minutes: [480]',
    );
    const { found } = await answeredInTime(() => judged(constraint));
    expect(found[1]?.ineligibleReasons).toMatchObject([{ ends: 'failure', canBeForced: false }]);
    expect(constraint.prepare(builtInRules).minutes).toEqual([480]);
    expect(constraint.version).toMatch(/^[0-9a-f]{12}$/);
  });

  it('goes by flags, by who is elected, by the time of day and by the configuration', async () => {
    const fields = '[flags, elected, minuteOfDay, config.leaders, sitePriority]';
    const constraint = await constraintOf(`return { strength: 'soft', reason: JSON.stringify(${fields}) }`);
    const { found } = await answeredInTime(() => judged(constraint, { flags: { night: byHand } }));
    const minute = Math.floor(epoch0Ms / 60_000) % 1440;
    expect(found[0]?.softReasons).toEqual([JSON.stringify([['night'], ['a1'], minute, 1, 100])]);
  });

  it.each([
    ['throws', 'throw new Error("oh no")', 'constraint mine failed: oh no'],
    ['does not end', 'while (true) {}', 'constraint mine failed: the module did not respond within 250 ms'],
    ['ends its thread', 'process.exit(1)', 'constraint mine failed: the module did not respond within'],
    ['goes by the clock', 'return Date.now() > 0', 'a constraint must be a pure function'],
    [
      'answers nonsense',
      'return { strength: "strong", reason: "" }',
      'for b1 it returned an invalid value: strength',
    ],
    [
      'answers true',
      'return true',
      'check must return null or {strength, reason}, but for b1 it returned an invalid value: true',
    ],
    ['is async', 'return Promise.resolve(null)', 'check returned a promise'],
  ])('that %s elects nobody, and says which it is', async (_, body, problem) => {
    const constraint = await constraintOf(`if (!('spare' in tags)) return null; ${body}`);
    const isAboutLimit = problem.includes('did not respond');
    const fails = isAboutLimit ? judged(constraint) : answeredInTime(() => judged(constraint));
    await expect(fails).rejects.toMatchObject({ name: 'RuleFault' });
    await expect(fails).rejects.toThrow(problem);
  });

  it('that did not end is there again after that', async () => {
    const constraint = await constraintOf(`if (flags.includes('loop')) while (true) {} ${spare('hard')}`);
    await expect(judged(constraint, { flags: { loop: byHand } })).rejects.toThrow('250 ms');
    await until(async () => (await judged(constraint).catch(() => null)) !== null);
  });

  it('that nobody knows here is named', () => {
    const { problems } = prepareConstraints(config({ constraints: ['mine'] }), builtInRules);
    expect(problems).toEqual(['constraints: unknown constraint "mine": expected one of none']);
  });

  it.each([
    ['no constraint', 'export default { name: "mine" }', 'the default export is not a constraint'],
    [
      'of a name that will not do',
      'export default { name: "M y", description: "x", check() { return null } }',
      'lowercase letters',
    ],
    [
      'of a built-in one’s name',
      'export default { name: "drained", description: "x", check() { return null } }',
      'drained is the name of a built-in constraint',
    ],
    [
      'one that remembers',
      'let turn = 0; export default { name: "mine", description: "x", check: () => ({ strength: "soft", reason: String(turn++) }) }',
      'check returns different results',
    ],
  ])('that is %s is refused when it is loaded', async (_, text, problem) => {
    await expect(OwnConstraint.load(await written(text))).rejects.toThrow(problem);
  });
});
