/**
 * Finds the code that a sabotage changes, given the name of a declaration and code inside that declaration.
 * The code may move to another file and may be formatted differently. Comments and the rest of the
 * declaration do not matter.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const project = fileURLToPath(new URL('../../..', import.meta.url));

const sources: ReadonlyMap<string, string> = new Map(
  ['src', 'strategies'].flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
      .map((name) => join(folder, name))
      .map((path): [string, string] => [path, readFileSync(join(project, path), 'utf8')]),
  ),
);

/** Part of a source file. The positions are in characters from the start of the file. */
export interface Part {
  /** Path relative to the project's root. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Declarations of the files that have been parsed so far. To find a name, only files that contain it are
 * parsed.
 */
const parsed = new Map<string, ReadonlyMap<string, readonly Part[]>>();

/**
 * Finds the declaration with this name. The name is `leaseFrom` for a function, `Leadership#release` for a
 * member of a class, or `evict.ts plan` if several files declare a `plan`.
 *
 * @throws Error if there is no such declaration, or more than one.
 */
export function declarationOf(named: string): Part {
  const [name = '', inFile = ''] = named.split(' ').reverse();
  const word = name.slice(name.lastIndexOf('#') + 1);
  const found = [...sources].flatMap(([file, text]) =>
    text.includes(word) && file.endsWith(inFile) ? (declarations(file, text).get(name) ?? []) : [],
  );
  const [first, ...others] = found;
  if (first === undefined) throw new Error(`nothing is declared as ${named}`);
  if (others.length > 0)
    throw new Error(`${named} is declared in ${found.map(({ file }) => file).join(' and in ')}`);
  return first;
}

function declarations(file: string, text: string): ReadonlyMap<string, readonly Part[]> {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const all = new Map<string, Part[]>();
  const add = (name: string, node: ts.Node) => {
    const part = { file, start: node.getStart(tree), end: node.getEnd() };
    all.set(name, [...(all.get(name) ?? []), part]);
  };
  for (const statement of tree.statements) {
    if (ts.isVariableStatement(statement))
      for (const { name } of statement.declarationList.declarations) add(name.getText(tree), statement);
    else if (ts.isClassDeclaration(statement) && statement.name !== undefined)
      for (const member of statement.members) add(nameOfMember(statement.name.text, member, tree), member);
    else if (ts.isFunctionDeclaration(statement) && statement.name !== undefined)
      add(statement.name.text, statement);
  }
  parsed.set(file, all);
  return all;
}

/** Returns a name such as `Leadership#release`. The name of a private member has the same form. */
function nameOfMember(owner: string, member: ts.ClassElement, tree: ts.SourceFile): string {
  if (ts.isConstructorDeclaration(member)) return `${owner}#constructor`;
  return `${owner}#${member.name?.getText(tree).replace(/^#/, '')}`;
}

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the tokens of a text. Leaves out spaces, comments, and the commas that a formatter adds before a
 * closing bracket.
 */
function tokensOf(text: string): Token[] {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, text);
  const tokens: Token[] = [];
  /** Number of open braces inside the expression of each open template literal. */
  const templates: number[] = [];
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    if (kind === ts.SyntaxKind.CloseBraceToken && templates.at(-1) === 0) {
      kind = scanner.reScanTemplateToken(false);
      if (kind === ts.SyntaxKind.TemplateTail) templates.pop();
    } else if (kind === ts.SyntaxKind.TemplateHead) templates.push(0);
    else if (kind === ts.SyntaxKind.OpenBraceToken) count(templates, 1);
    else if (kind === ts.SyntaxKind.CloseBraceToken) count(templates, -1);
    if (isClosing(kind) && tokens.at(-1)?.text === ',') tokens.pop();
    tokens.push({ text: scanner.getTokenText(), start: scanner.getTokenStart(), end: scanner.getTokenEnd() });
  }
  return tokens;
}

function count(templates: number[], by: number): void {
  const open = templates.pop();
  if (open !== undefined) templates.push(open + by);
}

function isClosing(kind: ts.SyntaxKind): boolean {
  const { CloseBraceToken, CloseBracketToken, CloseParenToken } = ts.SyntaxKind;
  return kind === CloseBraceToken || kind === CloseBracketToken || kind === CloseParenToken;
}

/** Finds every part of a declaration that has the same tokens as `code`. */
export function placesOf(code: string, { file, start, end }: Part): Part[] {
  const all = tokensOf(sourceOf(file).slice(start, end));
  const wanted = tokensOf(code);
  const isHere = (at: number) => wanted.every(({ text }, index) => all[at + index]?.text === text);
  return all.flatMap((first, at) => {
    const last = all[at + wanted.length - 1];
    return last !== undefined && isHere(at)
      ? [{ file, start: start + first.start, end: start + last.end }]
      : [];
  });
}

/**
 * Returns the text of a source file.
 *
 * @throws Error if there is no such file.
 */
export function sourceOf(file: string): string {
  const text = sources.get(file);
  if (text === undefined) throw new Error(`no source file ${file}`);
  return text;
}
