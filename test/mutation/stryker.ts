/**
 * Runs StrykerJS, which changes the code in one place at a time and runs the tests that execute that place.
 * Stryker is installed in a folder of its own when it is first needed, because few contributors need it and
 * it has about 100 packages.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Report, reportSchema } from './report.js';

/** The newest version for Node.js 20. */
const version = '9.6.1';
const packages = ['core', 'vitest-runner'].map((name) => `@stryker-mutator/${name}`);

const project = fileURLToPath(new URL('../..', import.meta.url));
/** Below node_modules, so that the runner finds the project's vitest. */
const home = join(project, 'node_modules/.cache/petrel-mutation', version);
const program = join(home, 'node_modules/@stryker-mutator/core/bin/stryker.js');

/** What no test of `vitest.config.ts` needs. It is not copied. */
const ignored = ['bench', 'deploy', 'docs', 'examples', 'dist', 'packages/page', 'test/live', 'test/chaos'];

/** Lets the property tests try the same few inputs for every mutant. */
const repeatable = { PETREL_TEST_SEED: '1', PETREL_TEST_RUNS: '25', PETREL_TEST_ZOOKEEPER: 'embedded' };

async function install(): Promise<void> {
  if (existsSync(program)) return;
  await mkdir(home, { recursive: true });
  const dependencies = Object.fromEntries(packages.map((name) => [name, version]));
  await writeFile(join(home, 'package.json'), JSON.stringify({ private: true, dependencies }));
  // The runner's peer is the project's own vitest.
  const flags = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['install', ...flags], home, {});
}

export interface Run {
  /** Paths relative to the project. */
  readonly files: readonly string[];
  /** Name of their kind (`kinds.ts`). */
  readonly kind: string;
  /** Number of mutants that are tested at the same time. */
  readonly workers: number;
}

/** Tests every mutant of the files. Prints Stryker's progress. */
export async function mutantsOf(wanted: Run): Promise<Report> {
  await install();
  const dir = await mkdtemp(join(tmpdir(), 'petrel-mutation-'));
  try {
    const report = join(dir, 'report.json');
    const config = join(dir, 'stryker.config.json');
    await writeFile(config, JSON.stringify(configOf(wanted, dir, report)));
    await run(process.execPath, [program, 'run', config], project, { PETREL_MUTANTS: wanted.kind });
    return reportSchema.parse(JSON.parse(await readFile(report, 'utf8')));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function configOf({ files, workers }: Run, dir: string, report: string): object {
  return {
    mutate: files,
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutation/vitest.config.ts' },
    coverageAnalysis: 'perTest',
    concurrency: workers,
    // A mutant that only waited for a busy processor must not count as an endless loop.
    timeoutMS: 20_000,
    dryRunTimeoutMinutes: 60,
    // Vitest does not check types.
    disableTypeChecks: false,
    ignorePatterns: ignored,
    tempDirName: join(dir, 'sandbox'),
    cleanTempDir: 'always',
    reporters: ['progress-append-only', 'json'],
    jsonReporter: { fileName: report },
    allowConsoleColors: false,
  };
}

function run(
  command: string,
  args: readonly string[],
  cwd: string,
  extra: Readonly<Record<string, string>>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, ...repeatable, ...extra };
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}
