/** The commands of a page: those in its blocks `sh`, and those after `$` in its blocks `console`. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readPage } from './pages.js';

/** Returns what a reader types, one text for each block. */
export function shellBlocks(page: string): string[] {
  const blocks = readPage(page).matchAll(/^( *)```(sh|console)\n(.*?)^\1```$/gms);
  return [...blocks].map(([, indent = '', language, content = '']) => {
    const lines = content.split('\n').map((line) => line.slice(indent.length));
    return language === 'sh' ? lines.join('\n') : typedIn(lines).join('\n');
  });
}

/** Returns the lines after a prompt, with the lines that continue them. */
function typedIn(lines: readonly string[]): string[] {
  const typed: string[] = [];
  let isOpen = false;
  for (const line of lines) {
    const prompted = /^\$ (.*)/.exec(line)?.[1];
    if (prompted !== undefined) typed.push(prompted);
    else if (isOpen) typed.push(`${typed.pop()}\n${line}`);
    else continue;
    isOpen = continues(typed.at(-1) ?? '');
  }
  return typed;
}

/** Whether a command ends with a backslash, or within single quotes. */
function continues(command: string): boolean {
  return command.endsWith('\\') || command.replaceAll(/"[^"]*"/g, '').split("'").length % 2 === 0;
}

/** Program that records its name and arguments in one write. */
const recorder = `#!/bin/sh
call=$(printf '%s\\001' "\${0##*/}" "$@")
printf '%s\\002' "$call" >>"\${0%/*}/calls"
`;

/** Runs a shell script in which only `petrel`, `npm` and `npx` can be found. Returns their calls. */
export async function callsOf(script: string): Promise<string[][]> {
  const dir = await mkdtemp(join(tmpdir(), 'petrel-commands-'));
  try {
    for (const name of ['petrel', 'npm', 'npx']) await writeFile(join(dir, name), recorder, { mode: 0o755 });
    await writeFile(join(dir, 'calls'), '');
    const options = { cwd: dir, env: { PATH: dir, PETREL_FENCING_TOKEN: '5' } };
    // The exit code is that of the last program, which may be one that is not found.
    await promisify(execFile)('/bin/bash', ['-c', `${script}\nwait`], options).catch(() => {});
    const calls = await readFile(join(dir, 'calls'), 'utf8');
    return calls
      .split('\u0002')
      .slice(0, -1)
      .map((call) => call.split('\u0001').slice(0, -1));
  } finally {
    await rm(dir, { recursive: true });
  }
}
