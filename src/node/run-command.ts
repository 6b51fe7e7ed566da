/** `petrel run`: runs a node whose workload is one command, and determines the resulting exit code. */
import type { Agent } from '../agent/agent.js';
import type { SessionMemory } from '../agent/session/session-memory.js';
import type { RunSettings } from '../config/settings.js';
import { PetrelError } from '../errors.js';
import { codeOfSignal, exitCodes } from '../exit-code.js';
import type { Command } from '../hooks/command.js';
import { type CommandEnd, RestartingWorkload } from '../hooks/restarting-workload.js';
import type { Logger } from '../log.js';
import { systemClock } from '../ports/clock.js';
import type { Rereading } from './reload.js';
import { runNode } from './run-node.js';
import type { NodeWorkload } from './workload.js';

/**
 * Runs until the command has ended permanently, or until the process receives a request to leave. Resolves
 * with the command's exit code, or with 128 plus the number of the signal that ended the command. If a signal
 * makes this process leave before the command has run, the code is 128 plus the number of that signal.
 *
 * Throws PetrelError LEADERSHIP_LOST if the command must run only once and was ended by a loss of leadership.
 * Throws PetrelError FAILED if the command could not be started. Also throws whatever `runNode` throws.
 */
export async function runCommand(
  settings: RunSettings,
  sessionMemory: SessionMemory,
  command: Command,
  environment: NodeWorkload['environment'],
  log: Logger,
  reread: Rereading,
): Promise<number> {
  const run = new Run(settings, command, environment, log);
  await runNode(settings, sessionMemory, log, run, reread);
  return run.exitCode();
}

class Run implements NodeWorkload {
  readonly commands: NodeWorkload['commands'];
  readonly foreground = true;
  readonly environment: NodeWorkload['environment'];
  readonly codes: NodeWorkload['codes'];
  readonly #settings: RunSettings;
  readonly #log: Logger;
  #agent: Agent | null = null;
  #signal: NodeJS.Signals | null = null;
  /** How the run ends. The first value that is set counts. */
  #end: { readonly workload: CommandEnd } | 'lost' | null = null;

  constructor(
    settings: RunSettings,
    command: Command,
    environment: NodeWorkload['environment'],
    log: Logger,
  ) {
    const { onPrepare, onFence } = settings;
    // A command that must run only once is not run again after the agent has died.
    const codeAtDeath = settings.restart === 'no' ? exitCodes.leadershipLost : null;
    this.codes = { codeAtDeath, codeOnSignal: 'signal' };
    this.commands = { onPrepare, onTakeover: command, onRelease: null, onFence };
    this.environment = environment;
    this.#settings = settings;
    this.#log = log;
  }

  workload(commands: ConstructorParameters<typeof RestartingWorkload>[0]['workload']): RestartingWorkload {
    const { restart: policy, restartLimit } = this.#settings;
    return new RestartingWorkload({
      workload: commands,
      policy,
      restartLimit,
      clock: systemClock,
      log: this.#log,
      onFinished: (workload) => this.#leave({ workload }),
      onStopped: (workload) => this.#stopped(workload),
    });
  }

  begins(agent: Agent): void {
    this.#agent = agent;
  }

  signalled(signal: NodeJS.Signals): void {
    this.#signal ??= signal;
  }

  exitCode(): number {
    if (this.#end === 'lost') {
      throw new PetrelError('LEADERSHIP_LOST', 'leadership lost: the command was stopped');
    }
    if (this.#end !== null) return codeOf(this.#end.workload);
    return this.#signal === null ? exitCodes.failed : codeOfSignal(this.#signal);
  }

  /** Called when a leadership and its command have ended. */
  #stopped(workload: CommandEnd | null): void {
    if (this.#signal !== null) this.#end ??= workload === null ? null : { workload };
    else if (this.#settings.restart === 'no') this.#leave('lost');
  }

  #leave(end: { readonly workload: CommandEnd } | 'lost'): void {
    this.#end ??= end;
    this.#log.info(
      end === 'lost' ? 'leadership lost: leaving the group' : 'the command ended: leaving the group',
    );
    this.#agent?.stop();
  }
}

function codeOf({ exitCode, signal, error }: CommandEnd): number {
  if (exitCode !== null) return exitCode;
  if (signal !== null) return codeOfSignal(signal);
  throw new PetrelError('FAILED', error ?? 'the command ended, but its exit status is unknown');
}
