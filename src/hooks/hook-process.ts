/**
 * One run of one command in its own process group. This class starts the command, limits its time, ends it
 * with SIGTERM or SIGKILL, and proves that its processes are dead.
 */

import type { CommandLine, Exit, Machine, StartedCommand } from '../ports/processes.js';
import type { HookResult } from '../ports/workload.js';
import { Alarm, sleep } from './alarm.js';
import { HookOutput, type OutputListener } from './output.js';
import { askGroupToStop, endGroup } from './process-group.js';

export interface HookSpec extends CommandLine {
  /** Name for messages, for example onTakeover. */
  readonly name: string;
  /** The command as an operator would type it. */
  readonly commandText: string;
  readonly timeoutMs: number;
  readonly graceMs: number;
  /**
   * Whether a successful command may leave processes in its group. These processes are the workload and
   * continue to run.
   */
  readonly leavesWorkload: boolean;
  /** Maximum time to read the output after the command has ended. Default: 20 ms. */
  readonly drainMs?: number;
}

const defaultDrainMs = 20;
/** Maximum time to wait for a killed process to end. After that, its end counts as unproven. */
const killPatienceMs = 2000;

export class HookProcess {
  /** Result of the run. Never rejects. */
  readonly outcome: Promise<HookResult>;
  /** Id of the process group. Null if the command could not be started. */
  readonly pgid: number | null;
  readonly #spec: HookSpec;
  readonly #machine: Machine;
  readonly #output: HookOutput;
  readonly #startedAtMs: number;
  readonly #timeLimit: Alarm;
  readonly #kill: Alarm;
  #killAtMs = Number.POSITIVE_INFINITY;
  #latestKillAtMs = Number.POSITIVE_INFINITY;
  #stopped: { readonly result: 'timed-out' | 'aborted'; readonly why: string } | null = null;
  #exited = false;
  #giveUp = () => {};

  constructor(spec: HookSpec, listener: OutputListener, machine: Machine) {
    this.#spec = spec;
    this.#machine = machine;
    this.#output = new HookOutput(listener, machine.clock);
    this.#timeLimit = new Alarm(machine.clock);
    this.#kill = new Alarm(machine.clock);
    this.#startedAtMs = machine.clock.monotonicMs();
    const command = machine.processes.start(spec);
    this.pgid = command.pgid;
    this.limit(this.#startedAtMs + spec.timeoutMs);
    this.outcome = this.#run(command);
  }

  /**
   * Moves the time limit to `endAtMs` if that is earlier. The command is killed at `killAtMs` at the latest.
   */
  limit(endAtMs: number, killAtMs = Number.POSITIVE_INFINITY): void {
    this.#latestKillAtMs = Math.min(this.#latestKillAtMs, killAtMs);
    if (this.#stopped !== null) this.#stop(killAtMs);
    if (this.#exited || this.#stopped !== null || endAtMs >= this.#timeLimit.atMs) return;
    const hadMs = Math.round(endAtMs - this.#startedAtMs);
    this.#timeLimit.set(endAtMs, () => {
      this.#stopped ??= { result: 'timed-out', why: `timed out after ${hadMs} ms` };
      this.#stop(Number.POSITIVE_INFINITY);
    });
  }

  /**
   * Sends SIGTERM to the command now. Kills it after the grace time, or at `killAtMs` if that is earlier. A
   * repeated call can only make the kill earlier.
   */
  abort(reason: string, killAtMs = Number.POSITIVE_INFINITY): void {
    if (!this.#exited) this.#stopped ??= { result: 'aborted', why: `was aborted: ${reason}` };
    this.#stop(killAtMs);
  }

  #stop(killAtMs: number): void {
    const now = this.#machine.clock.monotonicMs();
    if (this.#killAtMs === Number.POSITIVE_INFINITY && !this.#exited) {
      if (this.pgid !== null) askGroupToStop(this.#machine.processes, this.pgid);
    }
    this.#killAtMs = Math.min(this.#killAtMs, now + this.#spec.graceMs, killAtMs, this.#latestKillAtMs);
    if (this.#exited) return;
    this.#kill.set(this.#killAtMs, () => {
      if (this.pgid !== null) this.#machine.processes.signalGroup(this.pgid, 'SIGKILL');
      this.#kill.set(this.#machine.clock.monotonicMs() + killPatienceMs, () => this.#giveUp());
    });
  }

  async #run(command: StartedCommand): Promise<HookResult> {
    const exit = await this.#exitOf(command);
    const durationMs = this.#elapsedMs();
    this.#exited = true;
    this.#timeLimit.clear();
    this.#kill.clear();
    this.#output.hurry();
    // A workload may keep the pipes open, so the time to wait for their end must be limited.
    await Promise.race([command.closed, sleep(this.#machine.clock, this.#spec.drainMs ?? defaultDrainMs)]);
    const failure = this.#failure(exit);
    return {
      result: failure === null ? 'ok' : (this.#stopped?.result ?? 'failed'),
      exitCode: exit?.code ?? null,
      signal: exit?.signal ?? null,
      durationMs,
      command: this.#spec.commandText,
      error: failure,
      outputTail: [...this.#output.tail],
      provenDead: await this.#leftoversEnded(failure === null),
    };
  }

  /**
   * Waits for the command to exit. Resolves to null if the command was killed but is not known to have ended.
   */
  #exitOf({ stdout, stderr, exit }: StartedCommand): Promise<Exit | null> {
    if (stdout !== null) this.#output.read('stdout', stdout);
    if (stderr !== null) this.#output.read('stderr', stderr);
    const givenUp = new Promise<null>((resolve) => {
      this.#giveUp = () => resolve(null);
    });
    return Promise.race([exit, givenUp]);
  }

  async #leftoversEnded(succeeded: boolean): Promise<boolean> {
    if (this.pgid === null) return true;
    // While a workload is forking into the background, a scan may find only zombies. Therefore, check only
    // whether the group exists.
    if (succeeded && this.#spec.leavesWorkload) return !this.#machine.processes.groupExists(this.pgid);
    const graceEndMs = this.#machine.clock.monotonicMs() + this.#spec.graceMs;
    return endGroup(this.#machine, this.pgid, () =>
      Math.min(this.#killAtMs, this.#latestKillAtMs, graceEndMs),
    );
  }

  #failure(exit: Exit | null): string | null {
    const { name, program } = this.#spec;
    if (exit === null) return `${name} is still running after SIGKILL`;
    const { code, signal, startError } = exit;
    if (startError !== null) return `${name}: ${startProblem(program, startError)}`;
    if (this.#stopped !== null) {
      const how = signal === 'SIGKILL' ? ', and had to be killed' : '';
      return `${name} ${this.#stopped.why}${how}`;
    }
    if (code === 0) return null;
    return code === null ? `${name} was killed by ${signal}` : `${name} exited with code ${code}`;
  }

  #elapsedMs(): number {
    return Math.round(this.#machine.clock.monotonicMs() - this.#startedAtMs);
  }
}

/** Returns an explanation of why a program cannot be started. */
export function startProblem(program: string, errorCode: string): string {
  if (errorCode === 'ENOENT') return `program "${program}" not found`;
  if (errorCode === 'EACCES') return `program "${program}" is not executable`;
  if (errorCode === 'ENOEXEC') return `program "${program}" cannot be executed; a script must start with #!`;
  return `program "${program}" could not be started: ${errorCode}`;
}
