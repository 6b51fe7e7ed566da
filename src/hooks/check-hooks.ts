/** Checks that the configured programs exist and are executable, without running them. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { argvOf, type Command } from './command.js';
import { startProblem } from './hook-process.js';

/**
 * Returns the problems, one line each. For a shell command, checks only the shell, because the rest cannot be
 * checked without running it.
 */
export async function checkHooks(commands: Readonly<Record<string, Command | null>>): Promise<string[]> {
  const checks = Object.entries(commands).map(async ([name, command]) => {
    if (command === null) return [];
    const { program } = argvOf(command);
    const problem = await programProblem(program);
    return problem === null ? [] : [`${name}: ${startProblem(program, problem)}`];
  });
  return (await Promise.all(checks)).flat();
}

/**
 * Returns the error code that an attempt to start the program would produce. Returns null if the program can
 * be started.
 */
async function programProblem(program: string): Promise<'ENOENT' | 'EACCES' | null> {
  const places = program.includes('/')
    ? [program]
    : (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory || '.', program));
  const found = await Promise.all(places.map(lookAt));
  if (found.includes('runs')) return null;
  return found.includes('there') ? 'EACCES' : 'ENOENT';
}

async function lookAt(path: string): Promise<'runs' | 'there' | 'absent'> {
  try {
    if (!(await stat(path)).isFile()) return 'there';
  } catch {
    return 'absent';
  }
  return access(path, constants.X_OK).then(
    () => 'runs' as const,
    () => 'there' as const,
  );
}
