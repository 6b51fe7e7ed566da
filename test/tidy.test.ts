/** Rules of the code base that neither the compiler nor the linter enforces. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const project = fileURLToPath(new URL('..', import.meta.url));

interface Rule {
  readonly name: string;
  readonly folders: readonly string[];
  readonly forbidden: RegExp;
  /** Lines that break the rule. They show that the rule detects violations. */
  readonly examples: readonly string[];
}

const pure = ['src/core', 'src/lease', 'src/model', 'src/slots', 'strategies'];

const rules: readonly Rule[] = [
  {
    name: 'the core knows no clock',
    folders: pure,
    forbidden: /\bDate\.now\b|\bnew Date\(\)|\bperformance\.|\bhrtime\b|\bset(Timeout|Interval|Immediate)\b/,
    examples: ['const at = Date.now();', 'setTimeout(fire, 10);', 'performance.now()', 'new Date()'],
  },
  {
    name: 'the core knows no chance',
    folders: pure,
    forbidden: /\bMath\.random\b|\brandom(Bytes|Int|UUID)\b|\bcrypto\b/,
    examples: ['Math.random()', "import { randomUUID } from 'x';"],
  },
  {
    name: 'the core does no I/O',
    folders: pure,
    forbidden: /\bfrom 'node:|\bimport\('|\brequire\(|\bprocess\.|\bconsole\.|\bfetch\(|\basync\b|\bawait\b/,
    examples: ["import { readFile } from 'node:fs/promises';", 'process.env.X', 'await store.sync()'],
  },
  {
    name: 'the core stands on nothing but itself, errors, zod and ms',
    folders: pure,
    forbidden:
      /\bfrom '(?!\.\/|(\.\.\/)+(src\/)?errors\.js'|(\.\.\/)+(src\/)?(core|lease|model)\/|(\.\.\/)+strategies\/|zod'|ms')/,
    examples: ["import type { Store } from '../ports/store.js';", "import pino from 'pino';"],
  },
  {
    name: 'what is simulated takes its time from the clock that it is handed',
    folders: ['src/agent', 'src/group', 'src/hooks', 'src/tree', 'src/zookeeper'],
    forbidden:
      /\bset(Timeout|Interval|Immediate)\b|\btimers\/promises\b|\bDate\.now\b|\bnew Date\(\)|\bperformance\.|\bhrtime\b/,
    examples: [
      'setImmediate(fire);',
      "import { setTimeout as sleep } from 'node:timers/promises';",
      'Date.now()',
    ],
  },
  {
    name: 'an agent without HTTP does not load it',
    folders: [
      'src/agent',
      'src/cli',
      'src/config',
      'src/dev',
      'src/group',
      'src/guardian',
      'src/library',
      'src/node',
    ],
    forbidden: /^(?!import type\b).*\bfrom '(?:\.\.?\/)+http\//,
    examples: ["import { HttpServer } from '../http/server.js';"],
  },
  {
    name: 'an agent without traces does not load them',
    folders: [
      'src/agent',
      'src/cli',
      'src/config',
      'src/dev',
      'src/group',
      'src/http',
      'src/guardian',
      'src/library',
      'src/node',
    ],
    forbidden: /^(?!import type\b).*\bfrom '(?:(?:\.\.?\/)+tracing\/|@opentelemetry)/,
    examples: [
      "import { trace } from '@opentelemetry/api';",
      "import { ChosenIds } from '../tracing/ids.js';",
    ],
  },
  {
    name: 'what puts a node together knows no command line',
    folders: ['src/agent', 'src/group', 'src/library', 'src/node'],
    forbidden: /\bfrom '(?:(?:\.\.?\/)+cli\/|commander)/,
    examples: [
      "import { reportError } from '../cli/errors.js';",
      "import type { Command } from 'commander';",
    ],
  },
  {
    name: 'an agent imports nothing of the operator’s side',
    folders: ['src/agent', 'src/tree'],
    forbidden: /\bfrom '(?:\.\.?\/)+group\//,
    examples: ["import { readGroup } from '../group/view.js';"],
  },
  {
    name: 'Petrel knows no package of its own',
    folders: ['src', 'strategies'],
    forbidden: /\b(from|import\() ?'(petrel-|petrel\/|(\.\.\/)+packages\/)/,
    examples: [
      "import { simulate } from '../../packages/lab/src/simulate.js';",
      "const lab = await import('petrel-lab');",
    ],
  },
  {
    name: 'a package takes nothing of Petrel but its internals',
    folders: ['packages/lab'],
    forbidden: /\b(from|import\() ?'(petrel(?!\/internals')|(\.\.\/)+(src|strategies)\/)/,
    examples: [
      "import { Petrel } from 'petrel';",
      "import { ZnodeTree } from '../../../src/embedded/tree.js';",
      "const strategies = await import('../../../strategies/index.js');",
    ],
  },
  {
    name: 'the laboratory draws nothing but from its seed',
    folders: ['packages/lab'],
    forbidden: /\bMath\.random\b|\brandom(Bytes|Int|UUID)\b|\bcrypto\b|\bDate\.now\b|\bnew Date\(\)/,
    examples: ['Math.random()', 'Date.now()'],
  },
  {
    name: 'the page makes no markup out of text, and keeps nothing but who makes changes and why',
    folders: ['packages/page/src'],
    forbidden:
      /\b(inner|outer)HTML\b|insertAdjacentHTML|dangerouslySet|\b(local|session)Storage\b(?!, 'petrel\.(by|reason)')|\.cookie\b|indexedDB/,
    examples: ['place.innerHTML = reason;', 'localStorage.token = token;', 'document.cookie = token;'],
  },
  {
    name: 'the page loads nothing of the agent, and no more of libraries than it must',
    folders: ['packages/page/src'],
    forbidden: /^(?!import type\b).*\bfrom '(?!\.\/|preact'|preact\/hooks'|zod\/mini')/,
    examples: ["import { listing } from '../group/listing.js';", "import { z } from 'zod';"],
  },
  {
    name: 'every test is run',
    folders: ['test'],
    forbidden: /\.(only|skip|todo)\b/,
    examples: ['it.only(', 'describe.skip(', "it.todo('x')"],
  },
  {
    name: 'the compiler and the linter are not silenced',
    folders: ['src', 'strategies', 'packages', 'test', 'examples', 'scripts'],
    forbidden: /@ts-(ignore|expect-error|nocheck)|biome-ignore|\bas (unknown as|never)\b/,
    examples: ['// @ts-ignore', 'x as unknown as Y', '// biome-ignore lint: why not'],
  },
];

/** Limits for files that may be longer than `maxLines`. */
const longFiles: Readonly<Record<string, number>> = {
  'src/agent/agent.ts': 550,
  'src/agent/leadership/runner.ts': 605,
  'src/embedded/tree.ts': 420,
  'src/hooks/command-workload.ts': 440,
  'src/hooks/guard.ts': 430,
  'src/zookeeper/session.ts': 485,
};
const maxLines = 400;

/** Matches build output and installed packages inside the folder of a package. */
const isMade = /(^|\/)(dist|node_modules)\//;

/**
 * Returns the paths of the source files in these folders, relative to the project. Ignores missing folders.
 */
function sourceFiles(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => {
    const entries = readdirSync(dirname(join(project, folder))).includes(folder.split('/').at(-1) ?? '')
      ? readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' })
      : [];
    return entries
      .filter((name) => /\.(tsx?|mjs)$/.test(name) && !isMade.test(name))
      .map((name) => join(folder, name));
  });
}

function linesOf(file: string): string[] {
  return readFileSync(join(project, file), 'utf8').split('\n');
}

/** This file must name the things that it forbids. */
const thisFile = 'test/tidy.test.ts';

function offences({ folders, forbidden }: Rule): string[] {
  return sourceFiles(folders)
    .filter((file) => file !== thisFile)
    .flatMap((file) =>
      linesOf(file).flatMap((line, index) =>
        forbidden.test(withoutComment(line)) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
      ),
    );
}

/**
 * Removes comments, because prose may mention what code must not do. Keeps directives to tools, which are
 * comments too.
 */
function withoutComment(line: string): string {
  if (/@ts-|biome-ignore/.test(line)) return line;
  return /^\s*(\/?\*|\/\/)/.test(line) ? '' : line.replace(/\s\/\/ .*$/, '');
}

describe('the code base', () => {
  it.each(rules)('$name', (rule) => {
    expect(rule.examples.filter((example) => !rule.forbidden.test(example))).toEqual([]);
    expect(sourceFiles(rule.folders).length).toBeGreaterThan(5);
    expect(offences(rule)).toEqual([]);
  });

  it('keeps its files short', () => {
    const files = sourceFiles(['src', 'strategies', 'packages']);
    const long = files
      .map((file) => ({ file, lines: linesOf(file).length - 1 }))
      .filter(({ file, lines }) => lines > (longFiles[file] ?? maxLines));
    expect(long).toEqual([]);
  });
});
