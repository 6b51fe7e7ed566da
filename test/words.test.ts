/** Petrel uses one word for one thing: none of the words that docs/glossary.md has replaced may return. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { z } from 'zod';

const project = fileURLToPath(new URL('..', import.meta.url));

/**
 * Parts of names that must not occur, in upper or lower case. The words of a name in camel case are matched
 * separately. `zookeeper` and `elapsed` are allowed.
 */
const retired = new RegExp(
  [
    'tenure|dut(y|ies)|(?<!t)heir(?!s)|lookout|onlooker|deput|auditor|sentinel|\\bslate|(?<!zoo ?)keeper(?! ?exception)',
    'unfit|obstacle|objection|(?<!e|col)lapse|testimony|hearsay|standoff|readmit|(?<!un)exclusion|forgiv|waive',
    'circumstance|\\bamend|junk|brake|\\bmended|\\banew\\b|\\bwho(so?)?ever\\b|\\bgiv(es?|en|ing) away\\b',
    'troubles?\\b|\\btroubleMs|excused|excuses\\b|\\bcourts?\\b|courting|witness|\\bscenes?\\b',
    '\\b(un|re|fore)?told\\b|\\btells\\b|\\bhears? of\\b|\\blet(s|ting)? go\\b|next in line',
  ].join('|'),
  'i',
);

/** Whether a text contains a retired word, also as one of the words of a name such as `givenAway`. */
function isRetired(text: string): boolean {
  return retired.test(text) || retired.test(text.replace(/(?<=[a-z\d])(?=[A-Z])/g, ' '));
}

const self = 'test/words.test.ts';

function files(...patterns: readonly string[]): string[] {
  const listed = execFileSync('git', ['ls-files', ...patterns], { cwd: project, encoding: 'utf8' });
  return listed.split('\n').filter((file) => file !== '' && file !== self);
}

const sources = files('*.ts', '*.tsx');

function textsIn(file: string): { readonly text: string; readonly line: number }[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(`${project}${file}`, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const found: { text: string; line: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node) || isWords(node))
      found.push({
        text: node.text,
        line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1,
      });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Whether the node is text that may reach an operator. */
function isWords(node: ts.Node): node is ts.Node & { readonly text: string } {
  return (
    ts.isStringLiteralLike(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddle(node) ||
    ts.isTemplateTail(node) ||
    ts.isJsxText(node)
  );
}

it('retired words are found inside names, and not inside other words', () => {
  const names = [
    'givenAway',
    '#startAnew',
    'ZooKeeperTenure',
    'letGo',
    'isUntold',
    'the lease lapsed',
    'onTrouble',
    'SlotCourt',
  ];
  expect(names.filter((name) => !isRetired(name))).toEqual([]);
  const allowed = [
    'zooKeeper',
    'KeeperException',
    'elapsedMs',
    'their',
    'mayTellWhether',
    'recommended',
    'scenario',
    'troubleshoot',
  ];
  expect(allowed.filter(isRetired)).toEqual([]);
});

it('retired words are in no name and no message', () => {
  const found = sources.flatMap((file) =>
    textsIn(file)
      .filter(({ text }) => isRetired(text))
      .map(({ text, line }) => `${file}:${line}: ${text.trim().slice(0, 100)}`),
  );
  expect(found).toEqual([]);
});

const comment = /^\s*(\/\/|\/?\*)/;
const formatterWidth = z
  .object({ formatter: z.object({ lineWidth: z.number() }) })
  .parse(JSON.parse(readFileSync(`${project}biome.json`, 'utf8'))).formatter.lineWidth;

function commentLines(): { readonly place: string; readonly line: string }[] {
  return sources.flatMap((file) =>
    readFileSync(`${project}${file}`, 'utf8')
      .split('\n')
      .map((line, index) => ({ place: `${file}:${index + 1}`, line }))
      .filter(({ line }) => comment.test(line)),
  );
}

it('no comment is wider than the formatter lets code be', () => {
  const wide = commentLines().filter(({ line }) => line.length > formatterWidth);
  expect(wide.map(({ place }) => place)).toEqual([]);
});

it('retired words are in no comment', () => {
  const found = commentLines().filter(({ line }) => isRetired(line));
  expect(found.map(({ place, line }) => `${place}: ${line.trim()}`)).toEqual([]);
});

it('retired words are on no page, and in no script', () => {
  const pages = files('*.md', '*.mjs', '*.cjs', '.ci', 'scripts', 'test/transcripts/*.txt');
  const found = pages.flatMap((file) =>
    readFileSync(`${project}${file}`, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        isRetired(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 100)}`] : [],
      ),
  );
  expect(found).toEqual([]);
});
