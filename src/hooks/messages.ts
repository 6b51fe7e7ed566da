/**
 * What the agent and its supervisor say to each other, for each group that the agent is in. Both are of one
 * build, and nobody else has their channel.
 */
import type { HookResult, Phase, WorkloadLease } from '../ports/workload.js';
import type { OutputStream } from './output.js';
import {
  type Check,
  isFlag,
  isNumber,
  isObject,
  isOneOf,
  isText,
  isTexts,
  oneOf,
  orNull,
  type Shapes,
  shaped,
} from './schemas.js';

/** The id of a release that nobody asked for. */
export const unasked = 0;

export interface RunRequest {
  readonly id: number;
  /** Leaderships are counted by the agent; 0 for what belongs to none. */
  readonly leadership: number;
  readonly phase: Phase;
  /** Of the leadership, for the log. */
  readonly term: number;
  /** Null where the group has but one. */
  readonly slot: number | null;
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

export interface LeadershipLease extends WorkloadLease {
  readonly leadership: number;
}

export type ToSupervisor =
  | { readonly type: 'run'; readonly request: RunRequest }
  /** `killAtMs` null: after the grace time. */
  | {
      readonly type: 'abort';
      readonly id: number;
      readonly reason: string;
      readonly killAtMs: number | null;
    }
  /**
   * What to run when the lease passes unrenewed or the agent dies. `begun`: under an earlier supervisor, so
   * that it is due.
   */
  | { readonly type: 'guard'; readonly release: RunRequest; readonly begun: boolean }
  | ({ readonly type: 'lease' } & LeadershipLease)
  | { readonly type: 'end-leadership'; readonly leadership: number }
  /** A group that an earlier supervisor left, killed but not proven dead. */
  | { readonly type: 'adopt'; readonly pgid: number };

export type FromSupervisor =
  | { readonly type: 'started'; readonly id: number; readonly pgid: number }
  | { readonly type: 'gone'; readonly pgid: number }
  | { readonly type: 'line'; readonly id: number; readonly stream: OutputStream; readonly text: string }
  | { readonly type: 'left-out'; readonly id: number; readonly lines: number }
  | { readonly type: 'outcome'; readonly id: number; readonly outcome: HookResult }
  /**
   * `leaseLeftMs`: when all was over, the lease had this long to go; negative: it had ended. Null without a
   * lease.
   */
  | {
      readonly type: 'lease-ended';
      readonly leadership: number;
      readonly outcome: HookResult;
      readonly leaseLeftMs: number | null;
    }
  /** A workload in the foreground ended by itself. */
  | { readonly type: 'workload-ended'; readonly leadership: number; readonly outcome: HookResult };

/** Which group it is about, by the number that the agent gives it. */
interface OfGroup {
  readonly group: number;
}

export type ToGuards = OfGroup &
  (
    | ToSupervisor
    /** First: the group's root. */
    | { readonly type: 'begin'; readonly root: string }
    /** Nothing will be asked for any more: what is left is to be ended. Answered by `cleared`. */
    | { readonly type: 'clear' }
  );
export type FromGuards = OfGroup & (FromSupervisor | { readonly type: 'cleared' });

export function isToGuards(message: unknown): message is ToGuards {
  return (
    isOfGroup(message) &&
    (isToSupervisor(message) || isOneOf({ begin: { root: isText }, clear: {} }, message))
  );
}

export function isFromGuards(message: unknown): message is FromGuards {
  return isOfGroup(message) && (isFromSupervisor(message) || isOneOf({ cleared: {} }, message));
}

function isOfGroup(message: unknown): boolean {
  return isObject(message) && 'group' in message && isCount(message.group);
}

export function isToSupervisor(message: unknown): message is ToSupervisor {
  return isOneOf(toSupervisor, message);
}

export function isFromSupervisor(message: unknown): message is FromSupervisor {
  return isOneOf(fromSupervisor, message);
}

/** No other number names a group: 0 and 1 would be this process's own, and everybody's. */
const isGroup: Check<number> = (value): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 1;
const isCount: Check<number> = (value): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isEnvironment: Check<Readonly<Record<string, string>>> = (value): value is Record<string, string> =>
  isObject(value) && !Array.isArray(value) && Object.values(value).every(isText);

const isRequest = shaped<RunRequest>({
  id: isNumber,
  leadership: isNumber,
  phase: oneOf<Phase>('prepare', 'takeover', 'release', 'fence'),
  term: isNumber,
  slot: orNull(isNumber),
  name: isText,
  command: orNull(shaped({ program: isText, args: isTexts, text: isText })),
  foreground: isFlag,
  env: isEnvironment,
  timeoutMs: isNumber,
  graceMs: isNumber,
});

const isOutcome = shaped<HookResult>({
  result: oneOf<HookResult['result']>('ok', 'failed', 'timed-out', 'aborted'),
  exitCode: orNull(isNumber),
  signal: orNull(isText),
  durationMs: isNumber,
  command: orNull(isText),
  error: orNull(isText),
  outputTail: isTexts,
  provenDead: isFlag,
});

const toSupervisor: Shapes<ToSupervisor> = {
  run: { request: isRequest },
  abort: { id: isNumber, reason: isText, killAtMs: orNull(isNumber) },
  guard: { release: isRequest, begun: isFlag },
  lease: { leadership: isNumber, releaseAtMs: isNumber, endsAtMs: isNumber },
  'end-leadership': { leadership: isNumber },
  adopt: { pgid: isGroup },
};

const fromSupervisor: Shapes<FromSupervisor> = {
  started: { id: isNumber, pgid: isGroup },
  gone: { pgid: isGroup },
  line: { id: isNumber, stream: oneOf<OutputStream>('stdout', 'stderr'), text: isText },
  'left-out': { id: isNumber, lines: isNumber },
  outcome: { id: isNumber, outcome: isOutcome },
  'lease-ended': { leadership: isNumber, outcome: isOutcome, leaseLeftMs: orNull(isNumber) },
  'workload-ended': { leadership: isNumber, outcome: isOutcome },
};
