/**
 * The guardian: the small process that starts an agent, runs its hooks, and outlives it. If the agent dies or
 * hangs, the guardian ends the workload, then the session, and starts another agent.
 *
 * Not covered: the simultaneous death of the guardian and the agent. In that case, the session expires on its
 * own, and the reaper ends the workload (see `reaper.ts`).
 */
import { codeOfSignal, exitCodes } from '../exit-code.js';
import { Alarm } from '../hooks/alarm.js';
import { AgentRun, type AgentRunEnd, type AgentRunOptions } from './agent-run.js';
import type { HandledSignal } from './messages.js';

/**
 * Pause before an agent that died is started again. The pause doubles with each further agent that dies
 * within `soonMs` of its start.
 */
const firstPauseMs = 1_000;
const maxPauseMs = 60_000;
/** If an agent runs for at least this time before it dies, the next pause is the shortest one. */
const soonMs = 60_000;

export class Guardian {
  readonly #options: AgentRunOptions;
  readonly #pause: Alarm;
  #run: AgentRun | null = null;
  #deaths = 0;
  /** Whether an agent has ever opened a session. */
  #hasBegun = false;
  #signal: HandledSignal | null = null;
  /** Whether this process was asked to exit at a time when no agent was alive. */
  #signalMissedAgent = false;
  #isHurried = false;
  #rouse = () => {};
  #hurry = () => {};

  constructor(options: AgentRunOptions) {
    this.#options = options;
    this.#pause = new Alarm(options.clock);
  }

  /**
   * Runs one agent after another until an agent has finished, or this process is asked to exit. Resolves with
   * the exit code for this process. Never rejects.
   */
  async run(): Promise<number> {
    for (;;) {
      const end = this.#judged(await this.#live());
      if (!end.isFinal && this.#signal === null) await this.#beforeNext(end);
      if (end.isFinal || this.#signal !== null) return await this.#depart(end);
    }
  }

  /** Handles a request to exit or to reload settings. A second request to exit takes effect immediately. */
  signalled(signal: HandledSignal, isLeave = true): void {
    const { manager } = this.#options;
    if (isLeave) {
      manager.stopping();
      this.#isHurried = this.#signal !== null;
      this.#signalMissedAgent ||= this.#signal === null && this.#run?.isDead !== false;
      this.#signal ??= signal;
      this.#hurry();
    } else if (this.#run?.isDead === false) manager.reloading();
    // If no agent is running, skip the pause: the next agent reads the settings when it starts.
    if (this.#run !== null) this.#run.pass(signal);
    else this.#rouse();
  }

  /**
   * Whether all is well. False if the guardian has killed an agent that was silent for a long time, but the
   * agent is still alive.
   */
  get isWell(): boolean {
    return this.#run?.isWell ?? true;
  }

  async #live(): Promise<AgentRunEnd> {
    const { clock } = this.#options;
    const bornAtMs = clock.monotonicMs();
    this.#run = new AgentRun(this.#options);
    const end = await this.#run.over;
    this.#run = null;
    this.#deaths = clock.monotonicMs() - bornAtMs < soonMs ? this.#deaths + 1 : 1;
    return end;
  }

  /**
   * Returns the end of a run. An agent that rejects its settings is normally not started again. If an earlier
   * agent accepted the settings, however, the end is not final. The settings may be valid again soon, for
   * example because certificates are being replaced or a file is temporarily unavailable.
   */
  #judged(end: AgentRunEnd): AgentRunEnd {
    const isRefused = end.code === exitCodes.usage && !end.hasBegun;
    const isPassing = this.#hasBegun && isRefused;
    this.#hasBegun ||= end.hasBegun;
    return isPassing ? { ...end, isFinal: false } : end;
  }

  async #beforeNext({ report }: AgentRunEnd): Promise<void> {
    const { clock } = this.#options;
    const pauseMs = Math.min(firstPauseMs * 2 ** (this.#deaths - 1), maxPauseMs);
    report.say('warn', `restarting the agent in ${pauseMs / 1000} s`);
    await new Promise<void>((resolve) => {
      this.#rouse = resolve;
      this.#pause.set(clock.monotonicMs() + pauseMs, resolve);
    });
    this.#pause.clear();
  }

  /** Waits for the session to end, unless this process receives another request to exit. */
  async #depart(end: AgentRunEnd): Promise<number> {
    const { session } = end;
    const hurried = new Promise<void>((resolve) => {
      this.#hurry = resolve;
    });
    if (session !== null && !this.#isHurried) await Promise.race([session, hurried]);
    return this.#codeOf(end);
  }

  #codeOf({ isFinal, code, codeOnSignal }: AgentRunEnd): number {
    if (isFinal || this.#signal === null || !this.#signalMissedAgent) return code;
    return codeOnSignal === 'done' ? 0 : codeOfSignal(this.#signal);
  }
}
