/** The pages of docs/, and functions that read parts of them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

export const project = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the paths of all Markdown pages for human readers, relative to the project. */
export function pages(): string[] {
  const inDocs = readdirSync(join(project, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  const inExamples = readdirSync(join(project, 'examples'))
    .map((name) => `examples/${name}/README.md`)
    .filter((path) => existsSync(join(project, path)));
  return ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...inDocs, ...inExamples].toSorted();
}

export function readPage(path: string): string {
  return readFileSync(join(project, path), 'utf8');
}

/** Removes code blocks, so that checks see only prose and links. */
export function withoutCode(text: string): string {
  return text.replaceAll(/^( *)```.*?^\1```$/gms, '');
}

export interface Link {
  readonly from: string;
  readonly path: string;
  readonly anchor: string | undefined;
}

/** Returns the links to other files and to parts of the page itself. `text` is the text of the page. */
export function linksOf(page: string, text: string): Link[] {
  const prose = withoutCode(text).replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = '', anchor] = target.split('#');
    return [{ from: page, path: path === '' ? page : normalize(join(dirname(page), path)), anchor }];
  });
}

/** Returns the cells of all rows of all tables, including the header rows. */
export function tableRows(text: string): string[][] {
  return withoutCode(text)
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\| *:?-/.test(line))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** Returns a Markdown table, aligned as the formatter aligns it. */
export function alignedTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')));
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...escaped.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...escaped.map(line)].join('\n');
}
