/** Reads the settings file, which is YAML. The position of every key is kept for error messages. */

import { readFile } from 'node:fs/promises';
import { type Document, isMap, isScalar, type Node, type Pair } from 'yaml';
import { present } from '../errors.js';
import { cut } from '../model/outside.js';
import { nearestOf } from './nearest.js';
import { parseYaml, yamlProblem } from './yaml.js';

export interface FileEntry {
  /** Full key, with dots between the levels. */
  readonly key: string;
  readonly value: unknown;
  /** Position in the file: `file:line:column`. */
  readonly place: string;
}

export interface SettingsFile {
  readonly entries: readonly FileEntry[];
  /** Problems in the file, one line each. Each line states the position in the file. */
  readonly problems: readonly string[];
}

/** Reads a settings file. Never throws. Errors are returned as problems. */
export async function readSettingsFile(path: string, knownKeys: readonly string[]): Promise<SettingsFile> {
  try {
    return readDocument(path, await readFile(path, 'utf8'), knownKeys);
  } catch (error) {
    return { entries: [], problems: [`${path}: cannot read the settings file: ${yamlProblem(error)}`] };
  }
}

function readDocument(path: string, text: string, knownKeys: readonly string[]): SettingsFile {
  // Do not quote lines of the file in messages: they may contain a secret.
  const { document, problems, lines } = parseYaml(text);
  const placeOf = (offset: number | undefined) => {
    const { line, col } = lines.linePos(offset ?? 0);
    return `${path}:${line}:${col}`;
  };
  if (problems.length > 0) {
    return {
      entries: [],
      problems: problems.map(({ offset, message }) => `${placeOf(offset)}: not YAML: ${message}`),
    };
  }
  const reader = new EntryReader(document, knownKeys, placeOf);
  reader.read(document.contents, '');
  return reader;
}

class EntryReader implements SettingsFile {
  readonly entries: FileEntry[] = [];
  readonly problems: string[] = [];

  constructor(
    private readonly document: Document,
    private readonly knownKeys: readonly string[],
    private readonly placeOf: (offset: number | undefined) => string,
  ) {}

  read(node: unknown, prefix: string): void {
    if (node === null || (isScalar(node) && node.value === null)) return;
    if (!isMap<Node, Node | null>(node)) {
      const what = prefix === '' ? 'a settings file' : `"${prefix.slice(0, -1)}"`;
      this.problems.push(
        `${this.placeOf(startOf(node))}: ${what}: expected keys with values, such as "${this.example(prefix)}"`,
      );
      return;
    }
    for (const pair of node.items) this.#readPair(pair, prefix);
  }

  #readPair({ key: keyNode, value }: Pair<Node, Node | null>, prefix: string): void {
    const key = `${prefix}${isScalar(keyNode) ? String(keyNode.value) : String(keyNode)}`;
    const place = this.placeOf(startOf(keyNode));
    if (this.knownKeys.includes(key)) {
      this.#readValue(value, key, place);
    } else if (this.knownKeys.some((known) => known.startsWith(`${key}.`))) {
      this.read(value, `${key}.`);
    } else {
      this.problems.push(`${place}: ${unknownKey(key, this.knownKeys)}`);
    }
  }

  #readValue(value: Node | null, key: string, place: string): void {
    try {
      this.entries.push({ key, place, value: value === null ? null : value.toJS(this.document) });
    } catch (error) {
      this.problems.push(`${place}: ${key}: ${yamlProblem(error)}`);
    }
  }

  private example(prefix: string): string {
    const key = present(
      this.knownKeys.find((known) => known.startsWith(prefix)),
      `a key below ${prefix}`,
    );
    return `${key.slice(prefix.length).split('.')[0]}: …`;
  }
}

function unknownKey(key: string, knownKeys: readonly string[]): string {
  const lastPart = (text: string) => text.slice(text.lastIndexOf('.') + 1);
  const elsewhere = knownKeys.find((known) => lastPart(known) === lastPart(key));
  const nearest = elsewhere ?? nearestOf(key, knownKeys);
  const hint =
    nearest === undefined ? `known settings: ${knownKeys.join(', ')}` : `did you mean "${nearest}"?`;
  return `unknown setting "${cut(key)}": ${hint}`;
}

function startOf(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range))
    return undefined;
  const start: unknown = node.range[0];
  return typeof start === 'number' ? start : undefined;
}
