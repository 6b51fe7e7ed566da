/**
 * One run of one command, in a process group of its own: started, timed, told to stop, killed, proven dead.
 * The keeper runs this, so it needs nothing but Node.js.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../ports/clock.js';
import type { DutyOutcome } from '../ports/duty.js';
import { Alarm } from './alarm.js';
import { HookOutput, type OutputListener } from './output.js';
import { askGroupToStop, endGroup, groupLives, signalGroup } from './process-group.js';

export interface HookSpec {
  /** For messages, e.g. onTakeover. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** As a person would type it. */
  readonly commandText: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly graceMs: number;
  /** What the command leaves in its group when it succeeds is its workload, and stays. */
  readonly leavesWorkload: boolean;
  /** Its output goes where this process's own goes, instead of to the listener. */
  readonly passesOutput: boolean;
}

/** What the command wrote is read for at most this long after its end. */
const drainMs = 20;
/** A killed process that has not ended after this long is given up on, unproven. */
const killPatienceMs = 2000;

interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it could not be started, or is not known to have ended. */
  readonly error: string | null;
}

export class HookProcess {
  /** Never rejects. */
  readonly outcome: Promise<DutyOutcome>;
  /** Null when it could not be started. */
  readonly pgid: number | null;
  readonly #spec: HookSpec;
  readonly #output: HookOutput;
  readonly #startedAtMs = systemClock.monotonicMs();
  readonly #timeLimit = new Alarm();
  readonly #kill = new Alarm();
  #killAtMs = Number.POSITIVE_INFINITY;
  #latestKillAtMs = Number.POSITIVE_INFINITY;
  #stopped: { readonly result: 'timed-out' | 'aborted'; readonly why: string } | null = null;
  #exited = false;
  #giveUp = (_exit: Exit) => {};

  constructor(spec: HookSpec, listener: OutputListener) {
    this.#spec = spec;
    this.#output = new HookOutput(listener);
    const child = this.#spawn();
    this.pgid = child instanceof Error ? null : (child.pid ?? null);
    this.limit(this.#startedAtMs + spec.timeoutMs);
    this.outcome = this.#run(child);
  }

  /** Brings the time limit forward, and with it the kill: no later than `killAtMs`. */
  limit(endAtMs: number, killAtMs = Number.POSITIVE_INFINITY): void {
    this.#latestKillAtMs = Math.min(this.#latestKillAtMs, killAtMs);
    if (this.#stopped !== null) this.#stop(killAtMs);
    if (this.#exited || this.#stopped !== null || endAtMs >= this.#timeLimit.atMs) return;
    const hadMs = Math.round(endAtMs - this.#startedAtMs);
    this.#timeLimit.set(endAtMs, () => {
      this.#stopped ??= { result: 'timed-out', why: `took longer than the ${hadMs} ms it had` };
      this.#stop(Number.POSITIVE_INFINITY);
    });
  }

  /** Tells it to stop now, and kills it after the grace time or at `killAtMs`. Again: a kill only comes forward. */
  abort(reason: string, killAtMs = Number.POSITIVE_INFINITY): void {
    if (!this.#exited) this.#stopped ??= { result: 'aborted', why: `was aborted: ${reason}` };
    this.#stop(killAtMs);
  }

  #stop(killAtMs: number): void {
    const now = systemClock.monotonicMs();
    if (this.#killAtMs === Number.POSITIVE_INFINITY && !this.#exited) {
      if (this.pgid !== null) askGroupToStop(this.pgid);
    }
    this.#killAtMs = Math.min(this.#killAtMs, now + this.#spec.graceMs, killAtMs, this.#latestKillAtMs);
    if (this.#exited) return;
    this.#kill.set(this.#killAtMs, () => {
      if (this.pgid !== null) signalGroup(this.pgid, 'SIGKILL');
      this.#kill.set(systemClock.monotonicMs() + killPatienceMs, () =>
        this.#giveUp({ code: null, signal: null, error: 'was killed but has not ended' }),
      );
    });
  }

  #spawn(): ChildProcess | Error {
    const { program, args, env, passesOutput } = this.#spec;
    const output = passesOutput ? 'inherit' : 'pipe';
    try {
      return spawn(program, args, { detached: true, env, stdio: ['ignore', output, output] });
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  async #run(child: ChildProcess | Error): Promise<DutyOutcome> {
    const closed = child instanceof Error || new Promise((resolve) => child.once('close', resolve));
    const exit = await this.#exitOf(child);
    const durationMs = this.#elapsedMs();
    this.#exited = true;
    this.#timeLimit.clear();
    this.#kill.clear();
    this.#output.hurry();
    // A workload keeps the pipes open, so their end cannot be waited for.
    await Promise.race([closed, sleep(drainMs)]);
    const failure = this.#failure(exit);
    return {
      result: failure === null ? 'ok' : (this.#stopped?.result ?? 'failed'),
      exitCode: exit.code,
      signal: exit.signal,
      durationMs,
      command: this.#spec.commandText,
      error: failure,
      outputTail: [...this.#output.tail],
      provenDead: await this.#leftoversEnded(failure === null),
    };
  }

  #exitOf(child: ChildProcess | Error): Promise<Exit> {
    if (child instanceof Error) return Promise.resolve(notStarted(this.#spec.program, child));
    if (child.stdout !== null) this.#output.read('stdout', child.stdout);
    if (child.stderr !== null) this.#output.read('stderr', child.stderr);
    return new Promise((resolve) => {
      this.#giveUp = resolve;
      child.once('error', (error) => resolve(notStarted(this.#spec.program, error)));
      child.once('exit', (code, signal) => resolve({ code, signal, error: null }));
    });
  }

  async #leftoversEnded(succeeded: boolean): Promise<boolean> {
    if (this.pgid === null) return true;
    if (succeeded && this.#spec.leavesWorkload) return !groupLives(this.pgid);
    const graceEndMs = systemClock.monotonicMs() + this.#spec.graceMs;
    return endGroup(this.pgid, () => Math.min(this.#killAtMs, this.#latestKillAtMs, graceEndMs));
  }

  #failure({ code, signal, error }: Exit): string | null {
    const { name } = this.#spec;
    if (error !== null) return `${name}: ${error}`;
    if (this.#stopped !== null) {
      const how = signal === 'SIGKILL' ? ', and had to be killed' : '';
      return `${name} ${this.#stopped.why}${how}`;
    }
    if (code === 0) return null;
    return code === null ? `${name} was ended by ${signal}` : `${name} exited with ${code}`;
  }

  #elapsedMs(): number {
    return Math.round(systemClock.monotonicMs() - this.#startedAtMs);
  }
}

function notStarted(program: string, error: Error): Exit {
  const code = 'code' in error ? error.code : undefined;
  return { code: null, signal: null, error: startProblem(program, String(code ?? error.message)) };
}

/** Why a program cannot be started, in words. */
export function startProblem(program: string, errorCode: string): string {
  if (errorCode === 'ENOENT') return `program "${program}" not found`;
  if (errorCode === 'EACCES') return `program "${program}" is not executable`;
  if (errorCode === 'ENOEXEC') return `program "${program}" cannot be executed; a script begins with #!`;
  return `program "${program}" could not be started: ${errorCode}`;
}
