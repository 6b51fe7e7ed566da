/** Runs tasks in one of the laboratory's worker threads. */
import { parentPort } from 'node:worker_threads';
import { runTask, taskSchema } from './experiment.js';

parentPort?.on('message', async (message: unknown) => {
  parentPort?.postMessage(await runTask(taskSchema.parse(message)));
});
