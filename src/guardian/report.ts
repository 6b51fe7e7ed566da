/**
 * Writes the guardian's messages to the agent's log on stderr, as JSON lines or as text for operators.
 * Callers do not wait for writes.
 */

import type { FromSupervisor } from '../hooks/messages.js';
import type { LineWriter } from '../line-writer.js';
import { oneLine, visibleJson } from '../model/outside.js';
import type { Clock } from '../ports/clock.js';
import type { HookResult } from '../ports/workload.js';
import type { HeldSession, SessionEnd } from './held-session.js';
import type { Hello } from './messages.js';

type Level = 'info' | 'warn' | 'error';

/** The leadership that a message is about, and the reason why the leadership is ending. */
export interface About {
  /** The group's root. Set if the agent is in several groups. */
  readonly root?: string;
  /** Number of the slot. Set if the group has several slots. */
  readonly slot?: number;
  readonly term?: number;
  readonly reason?: string | null;
}

/** State of a session that is held. */
type HeldState = Pick<HeldSession, 'isOver' | 'lastProblem'>;

export class Report {
  readonly #clock: Clock;
  readonly #writer: Pick<LineWriter, 'write'>;
  readonly #about: About;
  #hello: Hello | null = null;

  constructor(clock: Clock, writer: Pick<LineWriter, 'write'>, about: About = {}) {
    this.#clock = clock;
    this.#writer = writer;
    this.#about = about;
  }

  /** Sets the agent whose guardian writes these messages. */
  introduce(hello: Hello): void {
    this.#hello = hello;
  }

  /** Returns a report whose messages have these fields. */
  about(about: About): Report {
    const report = new Report(this.#clock, this.#writer, about);
    report.#hello = this.#hello;
    return report;
  }

  /** Reports a leadership that the agent did not end itself. */
  released({ outcome, leaseLeftMs }: Extract<FromSupervisor, { type: 'lease-ended' }>): void {
    const { result, error, provenDead, durationMs, command } = outcome;
    const level = result === 'ok' && provenDead ? 'warn' : 'error';
    const fields = { result, provenDead, durationMs, command, leaseLeftMs };
    this.say(level, error ?? 'the guardian ran the release hook and stopped the workload', fields);
  }

  /** Reports a failed run that a dead agent had requested. */
  ended({ result, error, provenDead, durationMs, command }: HookResult): void {
    if (error !== null) this.say('error', error, { result, provenDead, durationMs, command });
  }

  sessionEnded(end: SessionEnd, provenDeadInMs: number, inMs: number): void {
    const fields = { provenDeadInMs: Math.round(provenDeadInMs), inMs: Math.round(inMs) };
    if (end === 'unconfirmed') {
      this.say(
        'error',
        "cannot reach any ZooKeeper server to end the dead agent's session: the session will expire",
        fields,
      );
    } else this.say('warn', "the workload is proven dead, and the dead agent's session was ended", fields);
  }

  /**
   * Reports processes that are still running. `groups` contains the process groups, each with the root of its
   * Petrel group. The root is null if the agent is in only one group.
   */
  remains(groups: ReadonlyMap<number, string | null>, forMs: number, held: HeldState | null): void {
    const seconds = Math.round(forMs / 1000);
    const pgids = [...groups.keys()];
    const named = [...groups].map(([pgid, root]) => `${pgid}${root === null ? '' : ` of ${root}`}`);
    const whose = `${pgids.length === 1 ? 'process group' : 'process groups'} ${named.join(', ')}`;
    const text = `the workload is still running ${seconds} s after the agent died (${whose}); ${meanwhile(held)}`;
    this.say('error', text, { pgids });
  }

  say(level: Level, msg: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const time = new Date(this.#clock.wallMs()).toISOString();
    const { node, root, log } = this.#hello ?? { node: undefined, root: undefined, log: 'pretty' };
    const of = this.#about.root === undefined ? '' : ` ${this.#about.root}`;
    const whom = node === undefined ? '' : `[${node}${of}] `;
    const line =
      log === 'json'
        ? visibleJson(
            JSON.stringify({ level, time, node, root: root ?? undefined, ...this.#about, ...fields, msg }),
          )
        : `[${time.slice(11, 23)}] ${level.toUpperCase()}: ${whom}${oneLine(msg)}`;
    this.#writer.write(`${line}\n`);
  }
}

function meanwhile(held: HeldState | null): string {
  if (held === null) return 'the guardian will not start a new agent until the workload is dead';
  if (held.isOver) return 'the session of the agent has expired: another node may already lead';
  const problem = held.lastProblem === null ? '' : ` (${held.lastProblem})`;
  return `the guardian keeps the session alive until the workload is dead, so that no other node leads${problem}`;
}
