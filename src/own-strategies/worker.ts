/**
 * Runs one strategy, or one constraint, of a user's own, in a thread of its own: so that an endless loop in
 * it stops nobody, and so that it can be kept from what a pure function has no use for.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Answer } from '../../strategies/questions.js';
import { errorMessage } from '../errors.js';
import { constraintWork } from './constraint-work.js';
import { askedSchema, type Start, startSchema } from './messages.js';
import { strategyWork } from './strategy-work.js';
import type { Work } from './work.js';

// What a command prints is read by programs: a module's own words do not belong there.
process.stdout.write = process.stderr.write.bind(process.stderr);
// Nothing catches a failure: it ends the thread, which tells whoever started it.
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
