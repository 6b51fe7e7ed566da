/**
 * The guardian: the small process that starts an agent, runs its hooks, and outlives it. If the agent dies or
 * hangs, the guardian ends the workload, then the session, and starts another agent.
 *
 * Not covered: the guardian and the agent killed at the same instant. The session then expires on its own.
 * `reaper.ts` describes what ends the workload.
 */
import { codeOfSignal, exitCodes } from '../exit-code.js';
import { Alarm } from '../hooks/alarm.js';
import { Life, type LifeEnd, type LifeOptions } from './life.js';
import type { AskedSignal } from './messages.js';

/**
 * Pause before an agent that died is started again. The pause doubles with each agent that dies within
 * `soonMs`.
 */
const firstPauseMs = 1_000;
const maxPauseMs = 60_000;
/** Run time after which an agent's death is not attributed to the way it was started. */
const soonMs = 60_000;

export class Guardian {
  readonly #options: LifeOptions;
  readonly #pause: Alarm;
  #life: Life | null = null;
  #deaths = 0;
  /** Whether an agent has ever opened a session. */
  #hasBegun = false;
  #asked: AskedSignal | null = null;
  /** Whether this process was requested to end while no agent was alive to be notified. */
  #askedOfDead = false;
  #isHurried = false;
  #rouse = () => {};
  #hurry = () => {};

  constructor(options: LifeOptions) {
    this.#options = options;
    this.#pause = new Alarm(options.clock);
  }

  /**
   * Starts agents until the last one has ended. Resolves with the exit code of an agent that has finished, or
   * that died while it was leaving. Never rejects.
   */
  async run(): Promise<number> {
    for (;;) {
      const end = this.#judged(await this.#live());
      if (!end.isFinal && this.#asked === null) await this.#beforeNext(end);
      if (end.isFinal || this.#asked !== null) return await this.#depart(end);
    }
  }

  /**
   * Handles a request to end this process, or to reload settings. A second request to end takes effect
   * immediately.
   */
  asked(signal: AskedSignal, isLeave = true): void {
    const { manager } = this.#options;
    if (isLeave) {
      manager.stopping();
      this.#isHurried = this.#asked !== null;
      this.#askedOfDead ||= this.#asked === null && this.#life?.isDead !== false;
      this.#asked ??= signal;
      this.#hurry();
    } else if (this.#life?.isDead === false) manager.reloading();
    // If no agent is running, skip the pause: the next agent reads the settings when it starts.
    if (this.#life !== null) this.#life.pass(signal);
    else this.#rouse();
  }

  /**
   * Whether all is well. False if the agent has been silent for a long time and is still alive, although the
   * guardian has killed it for that.
   */
  get isWell(): boolean {
    return this.#life?.isWell ?? true;
  }

  async #live(): Promise<LifeEnd> {
    const { clock } = this.#options;
    const bornAtMs = clock.monotonicMs();
    this.#life = new Life(this.#options);
    const end = await this.#life.over;
    this.#life = null;
    this.#deaths = clock.monotonicMs() - bornAtMs < soonMs ? this.#deaths + 1 : 1;
    return end;
  }

  /**
   * Returns the end of a run. Refused settings are not final if an earlier agent accepted them. They may be
   * valid again soon, for example because certificates are being replaced or a file is unavailable.
   */
  #judged(end: LifeEnd): LifeEnd {
    const isRefused = end.code === exitCodes.usage && !end.hasBegun;
    const isPassing = this.#hasBegun && isRefused;
    this.#hasBegun ||= end.hasBegun;
    return isPassing ? { ...end, isFinal: false } : end;
  }

  async #beforeNext({ report }: LifeEnd): Promise<void> {
    const { clock } = this.#options;
    const pauseMs = Math.min(firstPauseMs * 2 ** (this.#deaths - 1), maxPauseMs);
    report.say('warn', `restarting the agent in ${pauseMs / 1000} s`);
    await new Promise<void>((resolve) => {
      this.#rouse = resolve;
      this.#pause.set(clock.monotonicMs() + pauseMs, resolve);
    });
    this.#pause.clear();
  }

  /** Waits for the session to end, unless this process receives another request to end. */
  async #depart(end: LifeEnd): Promise<number> {
    const { session } = end;
    const hurried = new Promise<void>((resolve) => {
      this.#hurry = resolve;
    });
    if (session !== null && !this.#isHurried) await Promise.race([session, hurried]);
    return this.#codeOf(end);
  }

  #codeOf({ isFinal, code, codeWhenAsked }: LifeEnd): number {
    if (isFinal || this.#asked === null || !this.#askedOfDead) return code;
    return codeWhenAsked === 'done' ? 0 : codeOfSignal(this.#asked);
  }
}
