/** The thread that one strategy, or one constraint, of a user's own runs in. */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type * as z from 'zod';
import type { Answer } from '../../strategies/questions.js';
import { plainMessage } from '../model/plain-message.js';
import { threadProgram } from '../thread-program.js';
import { answeredSchema, type RuleKind, type Start } from './messages.js';

const startLimitMs = 10_000;
const maxHeapMb = 128;

/** What a module is to be. */
export interface RuleModule<Introduction> {
  readonly url: string;
  readonly kind: RuleKind;
  /** What the thread says first of all. */
  readonly introduction: z.ZodType<Introduction>;
}

export class RuleThread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  #asked = 0;

  private constructor(worker: Worker, port: MessagePort) {
    this.#worker = worker;
    this.#port = port;
  }

  /**
   * Throws what the module throws when it is loaded, and an Error where it is none of its kind or takes too
   * long.
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
      // Neither keeps a process alive that has nothing else to do.
      worker.unref();
      port1.unref();
      // An error after this is told to whoever asks next: nothing answers.
      worker.on('error', () => {});
      return { thread: new RuleThread(worker, port1), introduction };
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  /** One question at a time. Null when there is no answer in time. Rejects where the answer is malformed. */
  async ask(question: unknown, limitMs: number): Promise<Answer | null> {
    this.#asked += 1;
    const id = this.#asked;
    const message = await this.#exchange({ id, question }, limitMs);
    if (message === null) return null;
    const answered = answeredSchema.parse(message.value);
    if (answered.id !== id) throw new Error('the response belongs to another request');
    return answered.answer;
  }

  /** The timer keeps the process alive meanwhile: the port and the worker do not. */
  #exchange(question: unknown, limitMs: number): Promise<{ readonly value: unknown } | null> {
    return new Promise((resolve) => {
      const port = this.#port;
      const done = (message: { readonly value: unknown } | null) => {
        clearTimeout(timer);
        port.off('message', onMessage);
        resolve(message);
      };
      const onMessage = (value: unknown) => done({ value });
      // Where this process was held up, the answer may have come in time without having been delivered.
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
