/** The thread that runs one user-defined strategy or constraint. */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type * as z from 'zod';
import type { Answer } from '../../strategies/questions.js';
import { plainMessage } from '../model/plain-message.js';
import { threadProgram } from '../thread-program.js';
import { answeredSchema, type RuleKind, type Start } from './messages.js';

const startLimitMs = 10_000;
const maxHeapMb = 128;

/** A module that must contain a rule of a certain kind. */
export interface RuleModule<Introduction> {
  readonly url: string;
  readonly kind: RuleKind;
  /** Schema of the thread's first message. */
  readonly introduction: z.ZodType<Introduction>;
}

export class RuleThread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  #questions = 0;

  private constructor(worker: Worker, port: MessagePort) {
    this.#worker = worker;
    this.#port = port;
  }

  /**
   * Starts the thread and loads the module in it. Throws whatever the module throws while loading. Throws an
   * Error if the module is not of the expected kind, or if loading takes too long.
   */
  static async start<Introduction>({
    url,
    kind,
    introduction: schema,
  }: RuleModule<Introduction>): Promise<{ thread: RuleThread; introduction: Introduction }> {
    const { port1, port2 } = new MessageChannel();
    const start: Start = { url, kind, port: port2 };
    const worker = new Worker(threadProgram(import.meta.url, 'worker'), {
      workerData: start,
      transferList: [port2],
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    try {
      const introduction = await introductionOf(worker, schema);
      // The worker and the port must not keep an otherwise idle process alive.
      worker.unref();
      port1.unref();
      // A later error in the thread is ignored here. The next question then gets no answer, and this is
      // reported as a failure.
      worker.on('error', () => {});
      return { thread: new RuleThread(worker, port1), introduction };
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  /**
   * Asks a question. Only one question may be asked at a time. Resolves with null if there is no answer in
   * time. Rejects if the answer is malformed.
   */
  async ask(question: unknown, limitMs: number): Promise<Answer | null> {
    this.#questions += 1;
    const id = this.#questions;
    const message = await this.#exchange({ id, question }, limitMs);
    if (message === null) return null;
    const answered = answeredSchema.parse(message.value);
    if (answered.id !== id) throw new Error('the response belongs to another request');
    return answered.answer;
  }

  /**
   * Sends a question and waits for the answer, or resolves with null at the time limit. The timer keeps the
   * process alive during this time, but the port and the worker do not.
   */
  #exchange(question: unknown, limitMs: number): Promise<{ readonly value: unknown } | null> {
    return new Promise((resolve) => {
      const port = this.#port;
      const done = (message: { readonly value: unknown } | null) => {
        clearTimeout(timer);
        port.off('message', onMessage);
        resolve(message);
      };
      const onMessage = (value: unknown) => done({ value });
      // If this process was stalled, the answer may have arrived in time but may not have been delivered yet.
      // Read it directly.
      const onLimit = () => {
        const waiting = receiveMessageOnPort(port);
        done(waiting === undefined ? null : { value: waiting.message });
      };
      const timer = setTimeout(onLimit, limitMs);
      port.on('message', onMessage).unref();
      port.postMessage(question);
    });
  }

  async end(): Promise<void> {
    this.#port.close();
    await this.#worker.terminate();
  }
}

function introductionOf<Introduction>(
  worker: Worker,
  schema: z.ZodType<Introduction>,
): Promise<Introduction> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`the module did not load within ${startLimitMs / 1000} s`));
    }, startLimitMs);
    worker.once('message', (message: unknown) => {
      clearTimeout(timer);
      const read = schema.safeParse(message);
      if (read.success) resolve(read.data);
      else
        reject(new Error(read.error.issues.map(({ message: problem }) => plainMessage(problem)).join('; ')));
    });
    worker.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    worker.once('exit', () => {
      clearTimeout(timer);
      reject(new Error('the module ended its thread while loading'));
    });
  });
}
