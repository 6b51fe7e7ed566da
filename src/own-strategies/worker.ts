/**
 * Runs one user-defined strategy or constraint in a separate thread, where an endless loop blocks nothing
 * else. The thread can also be denied access to anything that a pure function does not need.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Answer } from '../../strategies/questions.js';
import { errorMessage } from '../errors.js';
import { constraintWork } from './constraint-work.js';
import { questionMessageSchema, type Start, startSchema } from './messages.js';
import { strategyWork } from './strategy-work.js';
import type { Work } from './work.js';

// Programs may read the output of Petrel's commands from stdout, so a module's own output goes to stderr.
process.stdout.write = process.stderr.write.bind(process.stderr);
// A failure is not caught here. It ends this thread, and Node.js notifies the parent thread.
void run(startSchema.parse(workerData));

async function run({ url, kind, port }: Start): Promise<void> {
  const found = await defaultExportOf(url);
  const work = kind === 'strategy' ? strategyWork(found) : constraintWork(found);
  parentPort?.postMessage(work.introduction);
  port.on('message', (message: unknown) => {
    const { id, question } = questionMessageSchema.parse(message);
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
