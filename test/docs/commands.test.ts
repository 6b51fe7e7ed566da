/**
 * The commands in pages exist, with these options and arguments. A shell runs the pages as written, with
 * programs that only record how they are called. `test/examples/fresh-clone.test.ts` runs what can run on one
 * machine.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { pages, project, readPage } from './pages.js';
import { refusal } from './refusal.js';
import { callsOf, shellBlocks } from './shell-blocks.js';

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')));

async function mistakes([program, ...args]: readonly string[]): Promise<string[]> {
  const [first, second = ''] = args;
  if (program === 'petrel') return refusal(args);
  if (program === 'npm' && first === 'run') return second in scripts ? [] : [`npm run ${second}`];
  if (program === 'npx')
    return args.filter((arg) => /^(test|examples)\//.test(arg) && !existsSync(join(project, arg)));
  return [];
}

const readByPeople = pages().filter((page) => !page.includes('/tables/') && shellBlocks(page).length > 0);

it.each(readByPeople)('the commands of %s exist', async (page) => {
  const calls = await Promise.all(shellBlocks(page).map(callsOf));
  const found = await Promise.all(calls.flat().map(mistakes));
  expect(found.flat()).toEqual([]);
});

it('the examples in the help of commands exist', async () => {
  const help = readPage('docs/reference/tables/commands.md');
  const examples = [...help.matchAll(/^ {2}(petrel (?:.*\\\n)*.*)/gm)].map(([, example = '']) => example);
  expect(examples.length).toBeGreaterThan(10);
  const calls = await callsOf(examples.join('\n'));
  expect(calls.length).toBeGreaterThanOrEqual(examples.length);
  expect((await Promise.all(calls.map(mistakes))).flat()).toEqual([]);
});

it('finds an option that does not exist', async () => {
  const [call = []] = await callsOf('petrel list --colour red | jq');
  expect(await mistakes(call)).toEqual([expect.stringContaining("unknown option '--colour'")]);
});
