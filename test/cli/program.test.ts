/** A program that was created for one command handles that command as the whole program does. */
import { expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';

const all = (await createProgram()).commands.map((command) => command.name());

/** These describe or complete all other commands. */
const needAll = ['help', 'options', 'completion', 'complete'];

it.each(all)('petrel %s is there when it is named', async (name) => {
  const named = (await createProgram(name)).commands.map((command) => command.name());
  expect(named).toContain(name);
  expect(all).toEqual(expect.arrayContaining(named));
  if (needAll.includes(name)) expect(named).toEqual(all);
  else expect(named.length).toBeLessThan(3);
});

it('a word that names no command loads all of them, so that the nearest can be suggested', async () => {
  const { commands } = await createProgram('agnet');
  expect(commands.map((command) => command.name())).toEqual(all);
});
