/**
 * Periodically runs a command that checks whether this node is healthy. The agent itself starts the command,
 * one check at a time.
 *
 * A node is unhealthy until its first check has succeeded. After that, several failures in a row make it
 * unhealthy, and one success makes it healthy again. A check that hangs is killed and counts as failed.
 */
import { Listeners } from '../listeners.js';
import type { Logger } from '../log.js';
import type { Machine } from '../ports/processes.js';
import { Alarm } from './alarm.js';
import { argvOf, type Command, commandText } from './command.js';
import { HookProcess } from './hook-process.js';

export interface Health {
  readonly healthy: boolean;
  /**
   * Explains to operators why the node is unhealthy. Contains the last line of the check's output. Null if
   * the node is healthy.
   */
  readonly reason: string | null;
}

export interface HealthCheck {
  readonly command: Command;
  /** Time from the start of one check to the start of the next, unless the check takes longer. */
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Number of failures in a row that make a healthy node unhealthy. */
  readonly failures: number;
}

export interface HealthProberOptions extends Machine {
  readonly check: HealthCheck;
  readonly node: string;
  readonly root: string;
  readonly site: string;
  readonly log: Logger;
}

/** Time after which a check that ignores SIGTERM is killed. */
const graceMs = 500;

export class HealthProber {
  readonly #options: HealthProberOptions;
  #rule: HealthCheck;
  readonly #listeners: Listeners<Health>;
  readonly #next: Alarm;
  #health: Health = { healthy: false, reason: 'the first health check has not completed' };
  #failuresInRow = 0;
  /** Last error. Does not contain the check's output, which may differ every time. */
  #error: string | null = null;
  #check: HookProcess | null = null;
  #closed = false;

  /** Starts the first check immediately, and repeats the check until `close`. */
  constructor(options: HealthProberOptions) {
    this.#options = options;
    this.#listeners = new Listeners(options.log, 'health');
    this.#rule = options.check;
    this.#next = new Alarm(options.clock);
    void this.#probe();
  }

  get health(): Health {
    return this.#health;
  }

  /**
   * Reports every change in health, and every change in the way that the check fails. Does not report a
   * change in the check's output alone. The returned function unsubscribes.
   */
  onChange(listener: (health: Health) => void): () => void {
    return this.#listeners.add(listener);
  }

  /**
   * Uses this check from now on. Starts it immediately unless a check is running. Health does not change
   * until a check gives a different result.
   */
  use(check: HealthCheck): void {
    this.#rule = check;
    if (this.#closed || this.#check !== null) return;
    this.#next.clear();
    void this.#probe();
  }

  /** Kills a running check. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#next.clear();
    this.#check?.abort('closed');
    await this.#check?.outcome;
  }

  async #probe(): Promise<void> {
    const { node, root, site, log } = this.#options;
    const { command, timeoutMs } = this.#rule;
    const startedAtMs = this.#options.clock.monotonicMs();
    const check = new HookProcess(
      {
        name: 'healthCheck',
        ...argvOf(command),
        commandText: commandText(command),
        env: {
          PETREL_PHASE: 'health',
          PETREL_ROOT: root,
          PETREL_NODE: node,
          PETREL_SITE: site,
          PETREL_DEADLINE_MS: String(timeoutMs),
        },
        timeoutMs,
        graceMs,
        leavesWorkload: false,
        passesOutput: false,
      },
      { line: (stream, text) => log.debug({ phase: 'health', stream }, text), leftOut: () => {} },
      this.#options,
    );
    this.#check = check;
    const outcome = await check.outcome;
    this.#check = null;
    if (this.#closed) return;
    this.#count(outcome.error, outcome.outputTail.at(-1));
    this.#next.set(startedAtMs + this.#rule.intervalMs, () => void this.#probe());
  }

  #count(error: string | null, lastLine: string | undefined): void {
    this.#failuresInRow = error === null ? 0 : this.#failuresInRow + 1;
    if (error === null) {
      this.#become({ healthy: true, reason: null }, null);
    } else if (!this.#health.healthy || this.#failuresInRow >= this.#rule.failures) {
      this.#become({ healthy: false, reason: lastLine ? `${error}: ${lastLine}` : error }, error);
    } else {
      this.#options.log.warn(
        { failuresInRow: this.#failuresInRow },
        `${error}; the node is still considered healthy`,
      );
    }
  }

  #become(health: Health, error: string | null): void {
    if (this.#health.healthy === health.healthy && this.#error === error) return;
    this.#health = health;
    this.#error = error;
    const { log } = this.#options;
    if (health.healthy) log.info('the node is healthy');
    else log.warn(`the node is unhealthy: ${health.reason}`);
    this.#listeners.notify(health);
  }
}
