/**
 * A sabotage: a small change that breaks one rule of Petrel's, made to the sources on their way into a bundle and never
 * to the files. Not promised: that it breaks nothing else.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import type { KindOfLives } from '../crowd.js';

export interface Edit {
  /** From the project's root. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface Sabotage extends Edit {
  readonly name: string;
  /** What it breaks: a rule of docs/protocol.md, or a habit of the code. */
  readonly rule: string;
  /** Further edits, where the rule has a second line of defence that would hide the breach. */
  readonly also?: readonly Edit[];
  /** Nothing comes of it in other lives: they are not tried. */
  readonly lives?: KindOfLives;
}

const project = fileURLToPath(new URL('../../..', import.meta.url));

export function editsOf({ file, find, replace, also = [] }: Sabotage): readonly Edit[] {
  return [{ file, find, replace }, ...also];
}

/** Throws where the list is stale: a text that is to be replaced does not stand in its file exactly once. */
export function sabotagedText(sabotage: Sabotage, file: string): string {
  let text = readFileSync(join(project, file), 'utf8');
  for (const edit of editsOf(sabotage)) {
    if (edit.file !== file) continue;
    const times = text.split(edit.find).length - 1;
    if (times !== 1) {
      throw new Error(
        `sabotage "${sabotage.name}" is stale: what it replaces stands ${times} times in ${file}:\n${edit.find}`,
      );
    }
    text = text.replace(edit.find, () => edit.replace);
  }
  return text;
}

/** Hands a bundle the sabotaged text of the files concerned. */
export function sabotagePlugin(sabotage: Sabotage): Plugin {
  const files = [...new Set(editsOf(sabotage).map(({ file }) => file))];
  return {
    name: 'sabotage',
    setup({ onLoad }) {
      for (const file of files) {
        const contents = sabotagedText(sabotage, file);
        const path = join(project, file);
        const filter = new RegExp(`^${path.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
        onLoad({ filter }, () => ({ contents, loader: 'ts' }));
      }
    },
  };
}
