/** Simulates many seeds on all processors. It builds the simulation once and runs it in threads. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build, type Plugin } from 'esbuild';
import { z } from 'zod';

const resultSchema = z.object({
  seed: z.number(),
  steps: z.number(),
  simulatedMs: z.number(),
  transitions: z.number(),
  claims: z.number(),
  permittedOverlaps: z.number(),
  leaderlessMs: z.number().nullable(),
  boundMs: z.number(),
  /** Kinds of the run's faults, one entry for each fault. */
  faults: z.array(z.string()),
  violation: z.object({ invariant: z.number(), what: z.string() }).nullable(),
});
export type Result = z.infer<typeof resultSchema>;

/**
 * Which runs to simulate: all runs, or only those of groups with site rules, or with several leaders.
 */
const kindOfLives = z.enum(['all', 'site-rules', 'several-leaders']);
export type KindOfLives = z.infer<typeof kindOfLives>;

/** Seeds that one thread simulates: those in `first`, then every `step`th seed from `from` to `to`. */
export const shareSchema = z.object({
  first: z.array(z.number()),
  from: z.number(),
  step: z.number(),
  to: z.number(),
  lives: kindOfLives,
});

export interface CrowdOptions {
  /** Path of a program that `buildWorker` built. */
  readonly program: string;
  /** Seeds that one thread simulates before all others. */
  readonly first?: readonly number[];
  readonly from: number;
  readonly to: number;
  readonly workers?: number | undefined;
  /** Restricts the seeds to this kind. Does not apply to `first`. */
  readonly lives?: KindOfLives | undefined;
  /** Ends the simulation early when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each result. Returns true if no more results are needed. */
  heard(result: Result): boolean;
}

const cache = fileURLToPath(new URL('../../node_modules/.cache/petrel', import.meta.url));

/** Builds the program that the threads run, and returns its path. A plugin may change the sources. */
export async function buildWorker(plugins: Plugin[] = []): Promise<string> {
  mkdirSync(cache, { recursive: true });
  const outfile = join(mkdtempSync(join(cache, 'simulation-')), 'worker.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./worker.ts', import.meta.url))],
    outfile,
    plugins,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    logLevel: 'silent',
  });
  return outfile;
}

/**
 * Resolves when every seed has been simulated, or when `heard` has returned true. Rejects with the error that
 * ended a thread.
 */
export async function runCrowd(options: CrowdOptions): Promise<void> {
  const { program, first = [], from, to, workers, lives = 'all', signal, heard } = options;
  const count = Math.max(1, Math.min(workers ?? availableParallelism(), to - from + 1));
  const threads = Array.from(
    { length: count },
    (_, index) =>
      new Worker(program, {
        workerData: { first: index === 0 ? first : [], from: from + index, step: count, to, lives },
        execArgv: ['--enable-source-maps'],
      }),
  );
  let isEnough = false;
  const end = () => {
    isEnough = true;
    for (const one of threads) void one.terminate();
  };
  signal?.addEventListener('abort', end);
  await Promise.all(
    threads.map(
      (thread) =>
        new Promise<void>((resolve, reject) => {
          thread.on('message', (message) => {
            if (!isEnough && heard(resultSchema.parse(message))) end();
          });
          thread.on('error', reject);
          thread.on('exit', (code) => {
            if (code === 0 || isEnough) resolve();
            else reject(new Error(`a thread of the simulation ended with ${code}`));
          });
        }),
    ),
  ).finally(() => signal?.removeEventListener('abort', end));
}
