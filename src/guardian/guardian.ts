/**
 * The guardian: the small process that starts an agent, runs its hooks for it, and outlives it. When the
 * agent dies or hangs, the guardian ends the workload, then the session, and starts another agent.
 *
 * Not covered: the guardian and the agent killed at the same instant. The session then expires by itself;
 * what ends the workload is said in `reaper.ts`.
 */
import { codeOfSignal, exitCodes } from '../exit-code.js';
import { Alarm } from '../hooks/alarm.js';
import { Life, type LifeEnd, type LifeOptions } from './life.js';
import type { AskedSignal } from './messages.js';

/** Before an agent that died is started again: doubled with each that dies soon. */
const firstPauseMs = 1_000;
const maxPauseMs = 60_000;
/** One that lived so long did not die of what it was started with. */
const soonMs = 60_000;

export class Guardian {
  readonly #options: LifeOptions;
  readonly #pause: Alarm;
  #life: Life | null = null;
  #deaths = 0;
  /** An agent got as far as a session. */
  #hasBegun = false;
  #asked: AskedSignal | null = null;
  /** No agent lived that could have been told. */
  #askedOfDead = false;
  #isHurried = false;
  #rouse = () => {};
  #hurry = () => {};

  constructor(options: LifeOptions) {
    this.#options = options;
    this.#pause = new Alarm(options.clock);
  }

  /**
   * Resolves with the agent's exit code when the agent is done, or has died while it was leaving. Never
   * rejects.
   */
  async run(): Promise<number> {
    for (;;) {
      const end = this.#judged(await this.#live());
      if (!end.isFinal && this.#asked === null) await this.#beforeNext(end);
      if (end.isFinal || this.#asked !== null) return await this.#depart(end);
    }
  }

  /** Somebody asks this process to end (a second time: at once), or to have settings read anew. */
  asked(signal: AskedSignal, isLeave = true): void {
    const { manager } = this.#options;
    if (isLeave) {
      manager.stopping();
      this.#isHurried = this.#asked !== null;
      this.#askedOfDead ||= this.#asked === null && this.#life?.isDead !== false;
      this.#asked ??= signal;
      this.#hurry();
    } else if (this.#life?.isDead === false) manager.reloading();
    // The next agent, if there is to be one, is not waited for: it reads the settings.
    if (this.#life !== null) this.#life.pass(signal);
    else this.#rouse();
  }

  /** False: the agent has long been silent, and still lives, though it was killed for that. */
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
   * Settings that were good for one agent and are wrong for the next may be good again soon: certificates are
   * being replaced, say, or a file is out of reach.
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

  /** The end of the session is waited for, unless somebody is in a hurry. */
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
