/**
 * Runs one of a user's own strategies or constraints in a separate thread. An endless loop in it then blocks
 * nothing else, and it can be denied what a pure function does not need.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Answer } from '../../strategies/questions.js';
import { errorMessage } from '../errors.js';
import { constraintWork } from './constraint-work.js';
import { askedSchema, type Start, startSchema } from './messages.js';
import { strategyWork } from './strategy-work.js';
import type { Work } from './work.js';

// Programs read the output of commands, so a module's own output must not appear in it.
process.stdout.write = process.stderr.write.bind(process.stderr);
// A failure is not caught. It ends the thread, which notifies the thread that started it.
void run(startSchema.parse(workerData));

async function run({ url, kind, port }: Start): Promise<void> {
  const found = await defaultExportOf(url);
  const work = kind === 'strategy' ? strategyWork(found) : constraintWork(found);
  parentPort?.postMessage(work.introduction);
  port.on('message', (message: unknown) => {
    const { id, question } = askedSchema.parse(message);
    port.postMessage({ id, ...answerTo(work, question) });
  });
}

async function defaultExportOf(url: string): Promise<unknown> {
  const module: unknown = await import(url);
  return typeof module === 'object' && module !== null && 'default' in module && module.default;
}

function answerTo(work: Work, question: unknown): Answer {
  try {
    return work.answerTo(question);
  } catch (error) {
    return { failure: errorMessage(error) };
  }
}
