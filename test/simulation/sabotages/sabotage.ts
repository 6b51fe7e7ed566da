/**
 * A sabotage: a small change that breaks one of Petrel's rules. It is made to the sources on their way into a
 * bundle, never to the files. Not promised: that it breaks nothing else.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import type { KindOfLives } from '../crowd.js';
import { declarationOf, type Part, placesOf, sourceOf } from './anchor.js';

export interface Edit {
  /** Name of the declaration to change, as `declarationOf` takes it. */
  readonly in: string;
  /** Code that stands in the declaration exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface Sabotage extends Edit {
  readonly name: string;
  /** What it breaks: a rule of docs/reference/protocol.md, or a habit of the code. */
  readonly rule: string;
  /** Further edits, where the rule has a second line of defence that would hide the breach. */
  readonly also?: readonly Edit[];
  /** Nothing comes of it in other lives: they are not tried. */
  readonly lives?: KindOfLives;
}

const project = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Returns the sabotaged text of each file concerned, by its path from the project's root.
 *
 * @throws Error when the sabotage does not eligible the code any more: what it changes is not declared, or
 * does not stand
 *   there exactly once.
 */
export function sabotagedTexts(sabotage: Sabotage): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const edits = [sabotage, ...(sabotage.also ?? [])].map((edit) => ({ edit, part: placeOf(sabotage, edit) }));
  // From the end, so that what is still to be changed stays where it was.
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

/** Hands a bundle the sabotaged text of the files concerned. */
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
