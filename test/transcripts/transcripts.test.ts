/**
 * Plays the transcripts of this folder. They are written for readers: begin with `leader-dies.txt`. A
 * paragraph contains comments, commands (`group.ts`) and, below `----`, their output. The code that runs is
 * the shipped code, in virtual time. `npx vitest run --project embedded test/transcripts -u` rewrites the
 * output.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { Group } from './group.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
const project = join(folder, '../..');

/** The same transcript, with the current output of its commands. */
async function played(transcript: string): Promise<string> {
  const group = new Group();
  const paragraphs: string[] = [];
  for (const paragraph of transcript.trimEnd().split(/\n{2,}/)) {
    const [head = ''] = paragraph.split('\n----');
    const commands = head.split('\n').filter((line) => !line.startsWith('#'));
    const lines: string[] = [];
    for (const command of commands) lines.push(...(await group.play(command)));
    const output = lines.length === 0 ? '(nothing)' : lines.join('\n');
    paragraphs.push(commands.length === 0 ? head : `${head}\n----\n${output}`);
  }
  return `${paragraphs.join('\n\n')}\n`;
}

const files = readdirSync(folder).filter((name) => name.endsWith('.txt'));

it.each(files)('%s shows what happens', async (name) => {
  const file = join(folder, name);
  await expect(await played(readFileSync(file, 'utf8'))).toMatchFileSnapshot(file);
});

it.each(files)('%s names files that exist', (name) => {
  const text = readFileSync(join(folder, name), 'utf8');
  const paths = text.match(/\b(src|strategies|docs)\/[\w/.-]*\w/g) ?? [];
  expect(paths.length).toBeGreaterThan(5);
  expect(paths.filter((path) => !existsSync(join(project, path)))).toEqual([]);
});
