/**
 * Links and paths in pages have existing targets, and readers can reach every page of docs/ from its index.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { linksOf, pages, project, readPage, withoutCode } from './pages.js';

/** Returns the anchors of a page, as GitHub generates them. */
function anchorsOf(page: string): Set<string> {
  const headings = [...withoutCode(readPage(page)).matchAll(/^#+ (.*)$/gm)];
  return new Set(
    headings.map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

it.each(pages())('links of %s lead somewhere', (page) => {
  const broken = linksOf(page, readPage(page)).filter(
    ({ path, anchor }) =>
      !existsSync(join(project, path)) || (anchor !== undefined && !anchorsOf(path).has(anchor)),
  );
  expect(broken).toEqual([]);
});

/**
 * Returns the paths in code spans. Skips patterns such as `strategies/NAME.ts` and `rules-of-*.ts`, which
 * name no single file.
 */
function filesNamedIn(page: string): string[] {
  const spans = withoutCode(readPage(page)).matchAll(/`([^`\n ]+)`/g);
  return [...spans]
    .map(([, name = '']) => name.replace(/[#:].*$/, ''))
    .filter((name) => /^(bench|deploy|docs|examples|packages|scripts|src|strategies|test)\//.test(name))
    .filter((name) => !/[*{]|NAME/.test(name));
}

/**
 * Names of all files. Pages that say which folder they are about use file names without a path, such as
 * `faults.ts`.
 */
const names = new Set(
  ['bench', 'examples', 'packages/lab', 'packages/page', 'scripts', 'src', 'strategies', 'test'].flatMap(
    (folder) =>
      readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' }).map((path) => basename(path)),
  ),
);

it.each(pages())('files that %s names exist', (page) => {
  expect(filesNamedIn(page).filter((name) => !existsSync(join(project, name)))).toEqual([]);
  const alone = withoutCode(readPage(page)).matchAll(/`([\w-]+(?:\.test)?\.ts)`/g);
  expect([...alone].map(([, name = '']) => name).filter((name) => !names.has(name))).toEqual([]);
});

it('the index leads to every page', () => {
  const reached = new Set(['docs/index.md']);
  for (const page of reached) {
    const next = linksOf(page, readPage(page)).map(({ path }) => path);
    for (const path of next) if (path.startsWith('docs/') && path.endsWith('.md')) reached.add(path);
  }
  const all = pages().filter((page) => page.startsWith('docs/'));
  expect(all.filter((page) => !reached.has(page))).toEqual([]);
});
