/**
 * Defines a sabotage: a small change that breaks one of Petrel's rules. The change is applied to the sources
 * while they are bundled, never to the files.
 *
 * Not promised: a sabotage may break other rules, too.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import type { KindOfLives } from '../crowd.js';
import { declarationOf, type Part, placesOf, sourceOf } from './anchor.js';

export interface Edit {
  /** Name of the declaration to change. `declarationOf` defines the format. */
  readonly in: string;
  /** Code that occurs exactly once in the declaration. */
  readonly find: string;
  readonly replace: string;
}

export interface Sabotage extends Edit {
  readonly name: string;
  /** The rule that the sabotage breaks: a rule of docs/reference/protocol.md, or a convention of the code. */
  readonly rule: string;
  /** Further edits. They are needed if a second line of defence would hide the violation. */
  readonly also?: readonly Edit[];
  /** Kind of runs that the sabotage can affect. No other runs are tried. */
  readonly lives?: KindOfLives;
}

const project = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Returns the sabotaged text of each affected file. The keys are paths from the project's root.
 *
 * @throws Error if the sabotage no longer fits the code. Either the declaration to change does not exist, or
 * the code to change does not occur exactly once in it.
 */
export function sabotagedTexts(sabotage: Sabotage): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const edits = [sabotage, ...(sabotage.also ?? [])].map((edit) => ({ edit, part: placeOf(sabotage, edit) }));
  // Edits are applied from the end of the file, so that the positions of the remaining edits stay valid.
  for (const { edit, part } of edits.sort((a, b) => b.part.start - a.part.start)) {
    const text = texts.get(part.file) ?? sourceOf(part.file);
    texts.set(part.file, text.slice(0, part.start) + edit.replace + text.slice(part.end));
  }
  return texts;
}

function placeOf({ name }: Sabotage, edit: Edit): Part {
  const stale = (why: string) => new Error(`sabotage "${name}" is stale: ${why}`);
  const places = placesOf(edit.find, declarationOf(edit.in));
  const [place] = places;
  if (place === undefined || places.length > 1)
    throw stale(`what it replaces stands ${places.length} times in ${edit.in}:\n${edit.find}`);
  return place;
}

/** Returns a plugin that gives a bundle the sabotaged texts of the affected files. */
export function sabotagePlugin(sabotage: Sabotage): Plugin {
  const texts = sabotagedTexts(sabotage);
  return {
    name: 'sabotage',
    setup({ onLoad }) {
      for (const [file, contents] of texts) {
        const path = join(project, file);
        const filter = new RegExp(`^${path.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
        onLoad({ filter }, () => ({ contents, loader: 'ts' }));
      }
    },
  };
}
