/**
 * Notifies the service manager (systemd, with `Type=notify`) when the node has joined, when it reloads its
 * settings, and when it leaves. Also reports what the node is doing, and reports at regular intervals that
 * the node is well. Starts no process if no notifications are requested.
 *
 * Node.js has no Unix datagram sockets, so systemd's own program sends the notifications, one at a time.
 *
 * Not promised: that the notifications arrive. A failure is logged once, and has no other effect.
 */
import { spawn } from 'node:child_process';

/** Reports from a guardian to the service manager. */
export interface ServiceManager {
  /**
   * Reports the state. `joined` is true if the node is registered, has a seat, and is connected. `text` is
   * for operators.
   */
  status(joined: boolean, text: string): void;
  /** Reports that settings are about to be reloaded. */
  reloading(): void;
  reloaded(): void;
  /** Reports that the node has been asked to leave. */
  stopping(): void;
}

export interface Systemd extends ServiceManager {
  /**
   * Reports that the guardian is well, as long as `isWell` returns true. Sends two such reports in each
   * interval that systemd has set.
   */
  watch(isWell: () => boolean): void;
}

const program = 'systemd-notify';
/** Time limit for one notification, which normally takes milliseconds. */
const patienceMs = 5_000;

const nobody: Systemd = { status() {}, reloading() {}, reloaded() {}, stopping() {}, watch() {} };

/**
 * Returns the service manager. Removes from `env` the variables that are meant for this process alone. An
 * agent, a hook or a workload that used them would notify systemd on behalf of this process. Calls `warn` at
 * most once.
 */
export function systemdOf(env: NodeJS.ProcessEnv, warn: (text: string) => void): Systemd {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: usec, WATCHDOG_PID: pid, PATH: path } = env;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name];
  if (!socket) return nobody;
  const isWatched = Number(usec) > 0 && (pid === undefined || Number(pid) === process.pid);
  return new Notifier({ NOTIFY_SOCKET: socket, PATH: path }, isWatched ? Number(usec) / 1000 : null, warn);
}

class Notifier implements Systemd {
  readonly #env: NodeJS.ProcessEnv;
  readonly #watchdogMs: number | null;
  readonly #warn: (text: string) => void;
  readonly #waiting: string[][] = [];
  #isSpeaking = false;
  #hasWarned = false;
  #state: 'starting' | 'ready' | 'reloading' | 'stopping' = 'starting';
  #status = '';

  constructor(env: NodeJS.ProcessEnv, watchdogMs: number | null, warn: (text: string) => void) {
    this.#env = env;
    this.#watchdogMs = watchdogMs;
    this.#warn = warn;
  }

  status(joined: boolean, text: string): void {
    const isFirst = joined && this.#state === 'starting';
    if (isFirst) this.#state = 'ready';
    if (!isFirst && text === this.#status) return;
    this.#status = text;
    this.#say(...(isFirst ? ['READY=1'] : []), `STATUS=${text}`);
  }

  reloading(): void {
    if (this.#state !== 'ready') return;
    this.#state = 'reloading';
    this.#say('RELOADING=1');
  }

  reloaded(): void {
    if (this.#state !== 'reloading') return;
    this.#state = 'ready';
    this.#say('READY=1');
  }

  stopping(): void {
    if (this.#state === 'stopping') return;
    this.#state = 'stopping';
    this.#say('STOPPING=1');
  }

  watch(isWell: () => boolean): void {
    if (this.#watchdogMs === null) return;
    setInterval(() => {
      if (isWell()) this.#say('WATCHDOG=1');
    }, this.#watchdogMs / 2);
  }

  #say(...variables: string[]): void {
    this.#waiting.push(variables);
    if (!this.#isSpeaking) this.#next();
  }

  #next(): void {
    const variables = this.#waiting.shift();
    this.#isSpeaking = variables !== undefined;
    if (variables === undefined) return;
    // The program's output is not read. The pipes and buffers for hundreds of notifications would make this
    // small process large.
    const options = { env: this.#env, stdio: 'ignore', timeout: patienceMs, killSignal: 'SIGKILL' } as const;
    const child = spawn(program, variables, options);
    const ended = (problem: string | null) => {
      child.removeAllListeners();
      if (problem !== null && !this.#hasWarned) {
        this.#hasWarned = true;
        this.#warn(`cannot notify systemd: ${program} ${problem}`);
      }
      this.#next();
    };
    child.once('error', (error) => ended(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) =>
      ended(code === 0 ? null : signal === null ? `exited with code ${code}` : `was killed by ${signal}`),
    );
  }
}
