/** Opens text in the operator's editor. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PetrelError } from '../errors.js';
import { withoutSecrets } from '../hooks/secret-variables.js';

export interface Draft {
  readonly path: string;
  readonly text: string;
}

/** Writes the text to a new file that only its owner can read. */
export async function newDraft(text: string): Promise<Draft> {
  const path = join(await mkdtemp(join(tmpdir(), 'petrel-')), 'config.yaml');
  await writeFile(path, text, { mode: 0o600 });
  return { path, text };
}

/**
 * Returns the operator's editor: $VISUAL, $EDITOR or vi. Without a terminal, only $EDITOR is used, because
 * the others would wait for keyboard input. Throws PetrelError REFUSED if there is no editor.
 */
export function chosenEditor(): string {
  const { VISUAL: visual, EDITOR: editor } = process.env;
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (isTerminal) return visual || editor || 'vi';
  if (editor) return editor;
  throw new PetrelError(
    'REFUSED',
    'no terminal for an editor; use petrel config set, or set EDITOR to a program that needs no terminal',
  );
}

/**
 * Opens the file in the editor. Returns the file's content after the editor has exited. Throws PetrelError
 * FAILED if the editor exits with an error code.
 */
export async function edit({ path }: Draft, editor: string): Promise<Draft> {
  const ignore = () => {};
  // Ignore ^C while the editor is running, because ^C is meant only for the editor.
  process.on('SIGINT', ignore);
  try {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', path], {
      stdio: 'inherit',
      env: withoutSecrets(process.env),
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) {
      throw new PetrelError(
        'FAILED',
        `the editor ${editor} exited with code ${code}; your text is saved in ${path}`,
      );
    }
  } finally {
    process.off('SIGINT', ignore);
  }
  return { path, text: await readFile(path, 'utf8') };
}

export async function discard({ path }: Draft): Promise<void> {
  await rm(dirname(path), { recursive: true, force: true });
}
