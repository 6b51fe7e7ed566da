/**
 * The documentation that is installed with Petrel, as plain text. The status page and the alerts link to it.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { strictObject } from '../model/names.js';
import { cut } from '../model/outside.js';
import { packageDirectory } from '../version.js';
import type { App } from './app.js';
import { Denial } from './failures.js';
import { kept } from './kept.js';
import { reading, unread } from './route.js';

const root = join(packageDirectory, 'docs');

/**
 * Paths of the pages, such as `guides/runbook.md`. Only these pages are served, so no other file can be read.
 */
const pages = kept(async () => {
  const paths = await readdir(root, { recursive: true });
  return new Set(paths.filter((path) => path.endsWith('.md')));
});

const noPages: ReadonlySet<string> = new Set();

export function addDocs(app: App): void {
  app.add({
    ...unread,
    methods: reading,
    path: '/docs/:folder/:page',
    params: strictObject({ folder: z.string(), page: z.string() }),
    responses: {},
    answer: async ({ params: { folder, page } }) => {
      const path = `${folder}/${page}`;
      // A program that bundles Petrel may have omitted the documentation.
      const known = await pages().catch(() => noPages);
      if (!known.has(path)) throw new Denial(404, 'NOT_FOUND', `no such page: ${cut(path)}`);
      const content = await readFile(join(root, path), 'utf8');
      return { headers: { 'content-type': 'text/plain; charset=utf-8' }, content };
    },
  });
}
