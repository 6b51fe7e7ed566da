/** The thread that one strategy of a user's own runs in. */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { threadProgram } from '../thread-program.js';
import {
  type Answer,
  answeredSchema,
  type Introduction,
  introductionSchema,
  type Start,
} from './messages.js';

const startLimitMs = 10_000;
const maxHeapMb = 128;

export class StrategyThread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #signal: Int32Array;
  #asked = 0;

  private constructor(worker: Worker, port: MessagePort, signal: Int32Array) {
    this.#worker = worker;
    this.#port = port;
    this.#signal = signal;
  }

  /** Throws what the module throws when it is loaded, and an Error where it is no strategy or takes too long. */
  static async start(url: string): Promise<{ thread: StrategyThread; introduction: Introduction }> {
    const { port1, port2 } = new MessageChannel();
    const signal = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const start: Start = { url, port: port2, signal };
    const worker = new Worker(threadProgram(import.meta.url, 'worker'), {
      workerData: start,
      transferList: [port2],
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    try {
      const introduction = await introductionOf(worker);
      // Neither keeps a process alive that has nothing else to do.
      worker.unref();
      port1.unref();
      // An error after this is told to whoever asks next: nothing answers.
      worker.on('error', () => {});
      return { thread: new StrategyThread(worker, port1, signal), introduction };
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  /** Waits for the answer, and lets nothing else happen meanwhile; null when there is none in time. */
  ask(what: { readonly options: unknown; readonly input: unknown }, limitMs: number): Answer | null {
    this.#asked += 1;
    const before = this.#asked - 1;
    this.#port.postMessage({ id: this.#asked, ...what });
    if (Atomics.wait(this.#signal, 0, before, limitMs) === 'timed-out') return null;
    const answered = answeredSchema.parse(receiveMessageOnPort(this.#port)?.message);
    if (answered.id !== this.#asked) throw new Error('the answer is to another question');
    return answered.answer;
  }

  async end(): Promise<void> {
    this.#port.close();
    await this.#worker.terminate();
  }
}

function introductionOf(worker: Worker): Promise<Introduction> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`it is not loaded within ${startLimitMs / 1000} s`));
    }, startLimitMs);
    worker.once('message', (message: unknown) => {
      clearTimeout(timer);
      const read = introductionSchema.safeParse(message);
      if (read.success) resolve(read.data);
      else reject(new Error(read.error.issues.map(({ message: problem }) => problem).join('; ')));
    });
    worker.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    worker.once('exit', () => {
      clearTimeout(timer);
      reject(new Error('it ended its thread while it was loaded'));
    });
  });
}
