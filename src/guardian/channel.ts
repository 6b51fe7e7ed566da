/** The agent's end of its channel to the guardian that started it. */
import type { SessionMemory, SessionTicket } from '../agent/session-memory.js';
import type { Keeper, KeeperListener, Keepers } from '../hooks/keepers.js';
import type { TenureLease } from '../hooks/messages.js';
import {
  type AskedSignal,
  type FromAgent,
  type Hello,
  isAboutGuardian,
  type SessionNote,
  type ToAgent,
} from './messages.js';

/** The guardian, as the process that it has started finds it. */
export interface Parent {
  /** It lives, as far as is known. */
  readonly isThere: boolean;
  /** In order. What is sent to one that has just died is lost. */
  send(message: FromAgent): void;
  /** Where the guardian finds the newest lease when it looks; null: it has to be told. */
  readonly slate: { write(lease: TenureLease): void } | null;
  /** At once, by SIGKILL. */
  kill(): void;
  /** What waits is told first. `gone` once, soon, also when it has died before. The returned function unsubscribes. */
  listen(told: (message: ToAgent) => void, gone: () => void): () => void;
}

export interface GuardianListener {
  asked(signal: AskedSignal): void;
  /** The guardian has died. What it ran is ended by who had it run that. */
  gone(): void;
}

export class GuardianChannel {
  readonly #parent: Parent;
  readonly #unsubscribe: () => void;
  #listener: GuardianListener | null = null;
  /** What was told before anybody listened. */
  readonly #early: ((listener: GuardianListener) => void)[] = [];
  #keeper: KeeperListener | null = null;
  #cleared: (() => void) | null = null;
  #lease: TenureLease | null = null;

  constructor(parent: Parent, hello: Hello) {
    this.#parent = parent;
    this.#unsubscribe = parent.listen(
      (message) => this.#heard(message),
      () => this.#lost(),
    );
    parent.send({ type: 'hello', ...hello });
  }

  listen(listener: GuardianListener): void {
    this.#listener = listener;
    for (const tell of this.#early.splice(0)) tell(listener);
  }

  /** How the node is: `text` is for people, `joined` for the service manager. */
  tellStatus(joined: boolean, text: string): void {
    this.#parent.send({ type: 'status', joined, text });
  }

  tellReloaded(): void {
    this.#parent.send({ type: 'reloaded' });
  }

  /** Nothing more is told. */
  close(): void {
    this.#unsubscribe();
  }

  /** The guardian as the first keeper of the agent, and those that follow when it has died. */
  keepers(then: Keepers): Keepers {
    let isFirst = true;
    return {
      start: (options, listener) => {
        if (!isFirst || !this.#parent.isThere) return then.start(options, listener);
        isFirst = false;
        this.#keeper = listener;
        return this.#asKeeper;
      },
    };
  }

  /** Remembers where `inner` does, and tells the guardian. */
  memory(inner: SessionMemory | null, where: Pick<SessionNote, 'servers' | 'tls' | 'auth'>): SessionMemory {
    return {
      earlier: inner?.earlier ?? null,
      write: (ticket, timeoutMs) => {
        this.#parent.send({ type: 'session', session: { ...noteOf(ticket), timeoutMs, ...where } });
        inner?.write(ticket, timeoutMs);
      },
      close: (ended) => {
        if (ended) this.#parent.send({ type: 'session-over' });
        inner?.close(ended);
      },
    };
  }

  readonly #asKeeper: Keeper = {
    name: 'the guardian',
    send: (message) => {
      if (message.type !== 'lease' || !this.#isNoted(message)) this.#parent.send(message);
    },
    kill: () => this.#parent.kill(),
    leave: () =>
      new Promise((resolve) => {
        this.#cleared = resolve;
        if (this.#parent.isThere) this.#parent.send({ type: 'clear' });
        else resolve();
      }),
  };

  /** True: that is enough, for the guardian looks when the lease that it knows is due, and that is not too late. */
  #isNoted(lease: TenureLease): boolean {
    const { slate } = this.#parent;
    const before = this.#lease;
    this.#lease = lease;
    slate?.write(lease);
    return slate !== null && before?.tenure === lease.tenure && before.releaseAtMs <= lease.releaseAtMs;
  }

  #heard(message: ToAgent): void {
    if (!isAboutGuardian(message)) this.#keeper?.message(message);
    else if (message.type === 'asked') this.#tell((listener) => listener.asked(message.signal));
    else if (message.type === 'there?') this.#parent.send({ type: 'here' });
    else this.#cleared?.();
  }

  #lost(): void {
    this.#keeper?.gone('has died');
    this.#keeper = null;
    this.#cleared?.();
    this.#tell((listener) => listener.gone());
  }

  #tell(tell: (listener: GuardianListener) => void): void {
    if (this.#listener === null) this.#early.push(tell);
    else tell(this.#listener);
  }
}

function noteOf({ id, password }: SessionTicket): Pick<SessionNote, 'id' | 'password'> {
  return { id: String(id), password: password.toString('base64') };
}
