/** The agent's end of its channel to the guardian that started it. */
import type { SessionMemory, SessionTicket } from '../agent/session-memory.js';
import type { Keeper, KeeperListener, Keepers } from '../hooks/keepers.js';
import {
  type AskedSignal,
  type FromAgent,
  isAboutGuardian,
  isToAgent,
  type SessionNote,
  type ToAgent,
} from './messages.js';
import parent from './parent.cjs';

/** Tells the guardian that this process ends because it is done, or cannot go on. Without a guardian nothing happens. */
export async function partFromGuardian(code: number): Promise<void> {
  if (!parent.hasGuardian() || !process.connected) return;
  const message: FromAgent = { type: 'ended', code };
  await new Promise<void>((resolve) => process.send?.(message, undefined, undefined, () => resolve()));
  if (process.connected) process.disconnect();
}

export interface GuardianListener {
  asked(signal: AskedSignal): void;
  /** The guardian has died. What it ran is ended by who had it run that. */
  gone(): void;
}

type Hello = Omit<Extract<FromAgent, { type: 'hello' }>, 'type'>;

export class GuardianChannel {
  #listener: GuardianListener | null = null;
  /** What was told before anybody listened. */
  readonly #early: ((listener: GuardianListener) => void)[] = [];
  #keeper: KeeperListener | null = null;
  #cleared: (() => void) | null = null;
  readonly #hear = (message: unknown) => {
    if (isToAgent(message)) this.#heard(message);
  };
  readonly #lose = () => {
    this.#keeper?.gone('has died');
    this.#keeper = null;
    this.#cleared?.();
    this.#tell((listener) => listener.gone());
  };

  /** Null where there is no guardian. */
  static open(hello: Hello): GuardianChannel | null {
    return parent.hasGuardian() ? new GuardianChannel(hello) : null;
  }

  private constructor(hello: Hello) {
    process.on('message', this.#hear);
    process.once('disconnect', this.#lose);
    if (!process.connected) setImmediate(this.#lose);
    this.send({ type: 'hello', ...hello });
  }

  listen(listener: GuardianListener): void {
    this.#listener = listener;
    for (const tell of this.#early.splice(0)) tell(listener);
  }

  send(message: FromAgent): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => {});
  }

  /** Nothing more is told. */
  close(): void {
    process.off('message', this.#hear);
    process.off('disconnect', this.#lose);
  }

  /** The guardian as the first keeper of the agent, and those that follow when it has died. */
  keepers(then: Keepers): Keepers {
    let isFirst = true;
    return {
      start: (options, listener) => {
        if (!isFirst || !process.connected) return then.start(options, listener);
        isFirst = false;
        this.#keeper = listener;
        return this.#asKeeper;
      },
    };
  }

  /** Remembers where `inner` does, and tells the guardian. */
  memory(inner: SessionMemory | null, where: Pick<SessionNote, 'servers' | 'tls'>): SessionMemory {
    return {
      earlier: inner?.earlier ?? null,
      write: (ticket, timeoutMs) => {
        this.send({ type: 'session', session: { ...noteOf(ticket), timeoutMs, ...where } });
        inner?.write(ticket, timeoutMs);
      },
      close: (ended) => {
        if (ended) this.send({ type: 'session-over' });
        inner?.close(ended);
      },
    };
  }

  readonly #asKeeper: Keeper = {
    send: (message) => this.send(message),
    kill: () => {
      if (parent.hasGuardian()) process.kill(process.ppid, 'SIGKILL');
    },
    leave: () =>
      new Promise((resolve) => {
        this.#cleared = resolve;
        if (process.connected) this.send({ type: 'clear' });
        else resolve();
      }),
  };

  #heard(message: ToAgent): void {
    if (!isAboutGuardian(message)) this.#keeper?.message(message);
    else if (message.type === 'asked') this.#tell((listener) => listener.asked(message.signal));
    else if (message.type === 'there?') this.send({ type: 'here' });
    else this.#cleared?.();
  }

  #tell(tell: (listener: GuardianListener) => void): void {
    if (this.#listener === null) this.#early.push(tell);
    else tell(this.#listener);
  }
}

function noteOf({ id, password }: SessionTicket): Pick<SessionNote, 'id' | 'password'> {
  return { id: String(id), password: password.toString('base64') };
}
