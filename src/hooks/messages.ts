/** What the agent and its keeper say to each other. Both are of one build, and nobody else has their channel. */
import type { DutyOutcome, Phase } from '../ports/duty.js';
import type { OutputStream } from './output.js';

export interface RunRequest {
  readonly id: number;
  /** Tenures are counted by the agent; 0 for what belongs to none. */
  readonly tenure: number;
  readonly phase: Phase;
  /** For messages, e.g. onTakeover. */
  readonly name: string;
  /** Null: nothing is configured; it still counts as run. */
  readonly command: {
    readonly program: string;
    readonly args: readonly string[];
    readonly text: string;
  } | null;
  /** The command is the workload itself: it has taken over once it runs, and its output is passed through. */
  readonly foreground: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly graceMs: number;
}

export type ToKeeper =
  | { readonly type: 'run'; readonly request: RunRequest }
  /** `killAtMs` null: after the grace time. */
  | {
      readonly type: 'abort';
      readonly id: number;
      readonly reason: string;
      readonly killAtMs: number | null;
    }
  /** What to run when the lease passes unrenewed or the agent dies. `begun`: under an earlier keeper, so that it is due. */
  | { readonly type: 'guard'; readonly release: RunRequest; readonly begun: boolean }
  | {
      readonly type: 'lease';
      readonly tenure: number;
      readonly releaseAtMs: number;
      readonly endsAtMs: number;
    }
  | { readonly type: 'let-go'; readonly tenure: number }
  /** A group that an earlier keeper left, killed but not proven dead. */
  | { readonly type: 'adopt'; readonly pgid: number };

export type FromKeeper =
  | { readonly type: 'started'; readonly id: number; readonly pgid: number }
  | { readonly type: 'gone'; readonly pgid: number }
  | { readonly type: 'line'; readonly id: number; readonly stream: OutputStream; readonly text: string }
  | { readonly type: 'left-out'; readonly id: number; readonly lines: number }
  | { readonly type: 'outcome'; readonly id: number; readonly outcome: DutyOutcome }
  | { readonly type: 'lease-ended'; readonly tenure: number; readonly outcome: DutyOutcome }
  /** A workload in the foreground ended by itself. */
  | { readonly type: 'workload-ended'; readonly tenure: number; readonly outcome: DutyOutcome };

const toKeeper: ReadonlySet<unknown> = new Set<ToKeeper['type']>([
  'run',
  'abort',
  'guard',
  'lease',
  'let-go',
  'adopt',
]);
const fromKeeper: ReadonlySet<unknown> = new Set<FromKeeper['type']>([
  'started',
  'gone',
  'line',
  'left-out',
  'outcome',
  'lease-ended',
  'workload-ended',
]);

export function isToKeeper(message: unknown): message is ToKeeper {
  return hasType(message) && toKeeper.has(message.type);
}

export function isFromKeeper(message: unknown): message is FromKeeper {
  return hasType(message) && fromKeeper.has(message.type);
}

function hasType(message: unknown): message is { type: unknown } {
  return typeof message === 'object' && message !== null && 'type' in message;
}
