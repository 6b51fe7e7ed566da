/** Builds made-up records of a run, to test the checks. */
import { check, type Verdict } from '../check/check.js';
import type { Answer, Change, HookRecord, NemesisRecord, Run, RunRecords } from '../records.js';

export const run: Run = {
  seed: 1,
  root: '/chaos',
  nodes: ['a', 'b', 'c'],
  leaders: 1,
  sessionTimeoutMs: 6_000,
  claimMs: 5_000,
  takeoverMs: 4_000,
  releaseMs: 3_000,
  graceMs: 300,
  backoffMs: 2_000,
  ensembleMs: 5_000,
  slackMs: 1_000,
  startedAtMs: 0,
  endedAtMs: 100_000,
};

/** Records of a run, in the format of a real run. Times are in seconds. The default slot is 1. */
export class RunBuilder {
  readonly hooks: HookRecord[] = [];
  readonly answers: Answer[] = [];
  readonly changes: Change[] = [];
  readonly nemesis: NemesisRecord[] = [];

  hook(atS: number, node: string, token: string, what: string, more: Partial<HookRecord> = {}): this {
    const [phase = '', event = ''] = what.split(' ');
    const exitCode = event === 'ended' ? 0 : null;
    this.hooks.push({
      monotonicMs: atS * 1000,
      node,
      slot: 1,
      token,
      phase,
      event: event === 'started' || event === 'ended' ? event : 'beat',
      term: 1,
      exitCode,
      alive: [],
      ...more,
    });
    return this;
  }

  znode(
    zxid: number,
    op: Change['op'],
    path: string,
    data: unknown = null,
    more: Partial<Change> = {},
  ): this {
    const text = data === null ? null : JSON.stringify(data);
    const change = { zxid: String(zxid), atMs: zxid * 1000, op, path, data: text, ephemeral: false };
    this.changes.push({ ...change, session: 'nobody', ...more });
    return this;
  }

  elect(zxid: number, node: string | null, slot = 1): this {
    return this.znode(zxid, 'set', `/leader/elected${suffix(slot)}`, { node });
  }

  claim(zxid: number, node: string, op: 'create' | 'set', status: 'PROGRESS' | 'READY', slot = 1): this {
    const path = `/leader/current${suffix(slot)}`;
    return this.znode(zxid, op, path, { node, status }, { session: `of ${node}` });
  }

  unclaim(zxid: number, node: string, slot = 1): this {
    return this.znode(zxid, 'delete', `/leader/current${suffix(slot)}`, null, { session: `of ${node}` });
  }

  fault(
    fromS: number,
    toS: number,
    nodes: string[],
    more: { blocks?: boolean; ensemble?: boolean; silences?: boolean; slots?: number[] } = {},
  ): this {
    const id = `1.${this.nemesis.length}`;
    const does = { ensemble: false, blocks: false, silences: true };
    const fault = { id, round: 1, kind: 'freeze-agent', detail: '', nodes, ...does };
    this.nemesis.push({ event: 'begin', atMs: fromS * 1000, ...fault, ...more });
    this.nemesis.push({ event: 'end', atMs: toS * 1000, id });
    return this;
  }

  answered(atS: number, node: string, token: string, status: 'PROGRESS' | 'READY' = 'READY', slot = 1): this {
    return this.#answer(atS, { node, token, term: 1, status }, slot);
  }

  answeredNobody(atS: number, slot = 1): this {
    return this.#answer(atS, null, slot);
  }

  #answer(atS: number, leader: Answer['leader'], slot: number): this {
    const times = { requestedAtMs: atS * 1000 - 1, answeredAtMs: atS * 1000 };
    this.answers.push({ ...times, server: 0, slot, leader, error: null });
    return this;
  }

  /**
   * Adds all records of one successful leadership. `fromS` is the time of its claim, and also the claim's
   * zxid.
   */
  leads(node: string, fromS: number, toS: number, slot = 1): this {
    const token = String(fromS);
    this.elect(fromS - 1, node, slot).claim(fromS, node, 'create', 'PROGRESS', slot);
    this.hook(fromS + 0.1, node, token, 'takeover started', { slot });
    this.hook(fromS + 0.2, node, token, 'takeover ended', { slot });
    this.claim(fromS + 1, node, 'set', 'READY', slot).answered(fromS + 1, node, token, 'READY', slot);
    return this.hook(toS, node, token, 'takeover beat', { slot });
  }

  releases(node: string, token: number, fromS: number, toS: number, slot = 1): this {
    this.hook(fromS, node, String(token), 'release started', { slot });
    this.hook(toS, node, String(token), 'release ended', { slot });
    return this.unclaim(toS + 1, node, slot);
  }

  /** Changes the number of leaders in the configuration. The zxid is also the time of the change. */
  wants(zxid: number, leaders: number): this {
    return this.znode(zxid, 'set', '/config', { leaders });
  }

  verdict(changed: Partial<Run> = {}): Verdict {
    return check(this.records(changed));
  }

  records(changed: Partial<Run> = {}): RunRecords {
    const { hooks, answers, changes, nemesis } = this;
    return { run: { ...run, ...changed }, hooks, answers, changes, nemesis };
  }
}

/** Returns the suffix that the paths of a slot have. */
function suffix(slot: number): string {
  return slot === 1 ? '' : `-${slot}`;
}

export function rules({ violations }: Verdict): string[] {
  return [...new Set(violations.map(({ rule }) => rule))];
}

export function violationsIn({ violations }: Verdict): string[] {
  return violations.map(({ what }) => what);
}
