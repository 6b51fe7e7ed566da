/** The agent's end of its channel to the guardian that started it. */
import type { SessionMemory, SessionTicket } from '../agent/session/session-memory.js';
import type { FromGuards, LeadershipLease, ToSupervisor } from '../hooks/messages.js';
import {
  killedText,
  type Supervisor,
  type SupervisorListener,
  type Supervisors,
} from '../hooks/supervisors.js';
import {
  type FromAgent,
  type HandledSignal,
  type Hello,
  isFromGuardian,
  type SessionNote,
  type ToAgent,
} from './messages.js';

/** The guardian, as seen by the process that it started. */
export interface Parent {
  /** Whether the guardian is alive, as far as this process knows. */
  readonly isThere: boolean;
  /** Sends messages in order. A message to a guardian that has just died is lost. */
  send(message: FromAgent): void;
  /**
   * Memory in which the guardian finds a group's newest lease. If this is null, or if `write` returns false,
   * the lease must be sent to the guardian.
   */
  readonly sharedLease: { write(lease: LeadershipLease, group: number): boolean } | null;
  /** Kills the guardian immediately, with SIGKILL. */
  kill(): void;
  /**
   * Calls `received` for each message, starting with the messages that are already waiting. Calls `gone` once
   * when the guardian has died. If it was already dead, calls `gone` soon after this call. The returned
   * function unsubscribes.
   */
  listen(received: (message: ToAgent) => void, gone: () => void): () => void;
}

export interface GuardianListener {
  signalled(signal: HandledSignal): void;
  /** Called when the guardian has died. Each workload then ends everything that the guardian ran for it. */
  gone(): void;
}

interface Kept {
  readonly listener: SupervisorListener;
  /** The group's newest lease. Null before the first lease. */
  lease: LeadershipLease | null;
  cleared: (() => void) | null;
}

export class GuardianChannel {
  readonly #parent: Parent;
  readonly #unsubscribe: () => void;
  #listener: GuardianListener | null = null;
  /** Calls to make as soon as there is a listener, one for each message that arrived earlier. */
  readonly #early: ((listener: GuardianListener) => void)[] = [];
  /** Groups for which the guardian runs hooks, keyed by the group's number in messages. */
  readonly #kept = new Map<number, Kept>();
  #groups = 0;
  #isLost = false;
  #killedBecause: string | null = null;

  constructor(parent: Parent, hello: Hello) {
    this.#parent = parent;
    this.#unsubscribe = parent.listen(
      (message) => this.#received(message),
      () => this.#lost(),
    );
    parent.send({ type: 'hello', ...hello });
  }

  listen(listener: GuardianListener): void {
    this.#listener = listener;
    for (const notify of this.#early.splice(0)) notify(listener);
  }

  /** Reports the state of the node: `text` for operators, `joined` for the service manager. */
  sendStatus(joined: boolean, text: string): void {
    this.#parent.send({ type: 'status', joined, text });
  }

  sendReloaded(): void {
    this.#parent.send({ type: 'reloaded' });
  }

  /** Stops reporting messages. */
  close(): void {
    this.#unsubscribe();
  }

  /**
   * Returns supervisors that use the guardian for every group of the agent. After the guardian's death, they
   * use `then` instead.
   */
  supervisors(then: Supervisors): Supervisors {
    return {
      start: (options, listener) => {
        if (this.#isLost || !this.#parent.isThere) return then.start(options, listener);
        return this.#keep(options.root, listener);
      },
    };
  }

  /** Returns a session memory that saves to `inner` and also notifies the guardian. */
  memory(inner: SessionMemory | null, where: Pick<SessionNote, 'servers' | 'tls' | 'auth'>): SessionMemory {
    return {
      earlier: inner?.earlier ?? null,
      write: (ticket, granted) => {
        this.#parent.send({ type: 'session', session: { ...noteOf(ticket), ...granted, ...where } });
        inner?.write(ticket, granted);
      },
      close: (ended) => {
        if (ended) this.#parent.send({ type: 'session-over' });
        inner?.close(ended);
      },
    };
  }

  /**
   * Registers a group and returns its supervisor. The group gets a new number every time, because the numbers
   * of its leaderships start over.
   */
  #keep(root: string, listener: SupervisorListener): Supervisor {
    const group = this.#groups++;
    const kept: Kept = { listener, lease: null, cleared: null };
    this.#kept.set(group, kept);
    this.#parent.send({ type: 'begin', group, root });
    const send = (message: ToSupervisor) => {
      if (message.type !== 'lease' || !this.#isNoted(group, kept, message))
        this.#parent.send({ ...message, group });
    };
    return {
      name: 'the guardian',
      send,
      kill: (sign) => {
        this.#isLost = true;
        this.#killedBecause = sign;
        this.#parent.kill();
      },
      leave: () =>
        new Promise((resolve) => {
          kept.cleared = resolve;
          if (this.#kept.has(group) && this.#parent.isThere) this.#parent.send({ type: 'clear', group });
          else resolve();
        }),
    };
  }

  /**
   * Writes the lease to the shared lease. Returns false if the lease must also be sent as a message. The
   * guardian reads the shared lease only when its last known lease is due. That is too late for the first
   * lease of a leadership, and for a lease that is due sooner than the previous one.
   */
  #isNoted(group: number, kept: Kept, lease: LeadershipLease): boolean {
    const before = kept.lease;
    kept.lease = lease;
    const isWritten = this.#parent.sharedLease?.write(lease, group) ?? false;
    return isWritten && before?.leadership === lease.leadership && before.releaseAtMs <= lease.releaseAtMs;
  }

  #received(message: ToAgent): void {
    if (!isFromGuardian(message)) this.#receivedFromGuards(message);
    else if (message.type === 'signalled') this.#notify((listener) => listener.signalled(message.signal));
    else this.#parent.send({ type: 'here' });
  }

  #receivedFromGuards(message: FromGuards): void {
    const kept = this.#kept.get(message.group);
    if (message.type !== 'cleared') kept?.listener.message(message);
    else {
      this.#kept.delete(message.group);
      kept?.cleared?.();
    }
  }

  #lost(): void {
    this.#isLost = true;
    for (const [group, { listener, cleared }] of [...this.#kept]) {
      this.#kept.delete(group);
      listener.gone(this.#killedBecause === null ? 'has died' : killedText(this.#killedBecause));
      cleared?.();
    }
    this.#notify((listener) => listener.gone());
  }

  #notify(notify: (listener: GuardianListener) => void): void {
    if (this.#listener === null) this.#early.push(notify);
    else notify(this.#listener);
  }
}

function noteOf({ id, password }: SessionTicket): Pick<SessionNote, 'id' | 'password'> {
  return { id: String(id), password: password.toString('base64') };
}
