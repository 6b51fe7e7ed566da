/**
 * Messages between the agent and its supervisor, for each group that the agent is in. The agent and the
 * supervisor belong to the same build, and no other process has access to their channel.
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

/** Id of a release that the agent did not request. */
export const unasked = 0;

export interface RunRequest {
  readonly id: number;
  /** Number that the agent assigns to a leadership. 0 for a run that belongs to no leadership. */
  readonly leadership: number;
  readonly phase: Phase;
  /** Term of the leadership, for the log. */
  readonly term: number;
  /** Number of the slot. Null if the group has only one slot. */
  readonly slot: number | null;
  /** Name for messages, for example onTakeover. */
  readonly name: string;
  /** Command to run. Null if none is configured. A run without a command counts as performed. */
  readonly command: {
    readonly program: string;
    readonly args: readonly string[];
    readonly text: string;
  } | null;
  /**
   * Whether the command is the workload itself. In this case, the takeover is complete once the command is
   * running, and the command's output is passed through.
   */
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
  /** Aborts a run. If `killAtMs` is null, the command is killed after the grace time. */
  | {
      readonly type: 'abort';
      readonly id: number;
      readonly reason: string;
      readonly killAtMs: number | null;
    }
  /**
   * Release to run if the lease is not renewed in time or the agent dies. `begun` is true if the leadership
   * began under an earlier supervisor. In that case, a release is due.
   */
  | { readonly type: 'guard'; readonly release: RunRequest; readonly begun: boolean }
  | ({ readonly type: 'lease' } & LeadershipLease)
  | { readonly type: 'end-leadership'; readonly leadership: number }
  /** Process group that an earlier supervisor left behind. It was killed but is not proven dead. */
  | { readonly type: 'adopt'; readonly pgid: number };

export type FromSupervisor =
  | { readonly type: 'started'; readonly id: number; readonly pgid: number }
  | { readonly type: 'gone'; readonly pgid: number }
  | { readonly type: 'line'; readonly id: number; readonly stream: OutputStream; readonly text: string }
  | { readonly type: 'left-out'; readonly id: number; readonly lines: number }
  | { readonly type: 'outcome'; readonly id: number; readonly outcome: HookResult }
  /**
   * The guard has ended a leadership without a request. `leaseLeftMs` is the time that was left on the lease
   * when all processes had ended. It is negative if the lease had already ended, and null if there was no
   * lease.
   */
  | {
      readonly type: 'lease-ended';
      readonly leadership: number;
      readonly outcome: HookResult;
      readonly leaseLeftMs: number | null;
    }
  /** A foreground workload has ended on its own. */
  | { readonly type: 'workload-ended'; readonly leadership: number; readonly outcome: HookResult };

/** Group to which a message belongs. The agent assigns a number to each group. */
interface OfGroup {
  readonly group: number;
}

export type ToGuards = OfGroup &
  (
    | ToSupervisor
    /** First message about a group, with the group's root. */
    | { readonly type: 'begin'; readonly root: string }
    /** No more requests will come, so everything that is left must be ended. Answered by `cleared`. */
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

/** Excludes 0 and 1. In system calls, these stand for this process's own group and for all processes. */
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
