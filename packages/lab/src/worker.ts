/** One of the laboratory's threads. */
import { parentPort } from 'node:worker_threads';
import { runTask, taskSchema } from './experiment.js';

parentPort?.on('message', (message: unknown) => {
  parentPort?.postMessage(runTask(taskSchema.parse(message)));
});
