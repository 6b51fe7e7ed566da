/** Runs tasks on all processor cores. The results are the same for any number of workers. */

import { Worker } from 'node:worker_threads';
import { threadProgram } from 'petrel/internals';
import * as z from 'zod';
import { runTask, type Task } from './experiment.js';
import type { Measures } from './simulate.js';

const doneSchema = z.array(z.record(z.string(), z.number()));

export interface PoolOptions {
  readonly workers: number;
  /**
   * Time for which the calling thread runs tasks itself before it starts workers. If there is little work, it
   * is finished before a worker could have started.
   */
  readonly aloneMs: number;
  /** Called with the number of runs that have finished. */
  progress(runs: number): void;
}

/**
 * Returns the measures of each task, in the order of `tasks`. If a worker fails, throws that worker's error.
 */
export async function runTasks(tasks: readonly Task[], options: PoolOptions): Promise<Measures[][]> {
  const done: Measures[][] = [];
  const startedMs = performance.now();
  let next = 0;
  let runs = 0;
  const keep = (index: number, measures: Measures[]) => {
    done[index] = measures;
    runs += measures.length;
    options.progress(runs);
  };
  const isAlone = () => options.workers === 1 || performance.now() - startedMs < options.aloneMs;
  for (let task = tasks[next]; task !== undefined && isAlone(); task = tasks[next]) {
    keep(next, await runTask(task));
    next += 1;
  }
  const left = tasks.length - next;
  if (left === 0) return done;
  const take = () => {
    next += 1;
    return next - 1;
  };
  const workers = Array.from({ length: Math.min(options.workers, left) }, () => work(tasks, take, keep));
  await Promise.all(workers);
  return done;
}

/** Runs one worker thread, which processes one task after another. */
async function work(
  tasks: readonly Task[],
  take: () => number,
  keep: (index: number, measures: Measures[]) => void,
): Promise<void> {
  const worker = new Worker(threadProgram(import.meta.url, 'worker'), { execArgv: [], env: {} });
  try {
    for (let index = take(); index < tasks.length; index = take()) {
      keep(index, await answer(worker, tasks[index]));
    }
  } finally {
    await worker.terminate();
  }
}

function answer(worker: Worker, task: Task | undefined): Promise<Measures[]> {
  return new Promise((resolve, reject) => {
    worker.removeAllListeners();
    worker.once('message', (message: unknown) => {
      const read = doneSchema.safeParse(message);
      if (read.success) resolve(read.data);
      else reject(read.error);
    });
    worker.once('error', reject);
    worker.once('exit', () =>
      reject(new Error('a worker thread of petrel lab ended before it finished its work')),
    );
    worker.postMessage(task);
  });
}
