/** What an examination is made of: gathered first, judged afterwards. */
import type { UnreadableFile } from '../config/read-settings.js';
import type { SeenTokens, TokenSeen } from '../core/seen-tokens.js';
import type { ZnodeAcl } from '../group/access.js';
import type { Transition } from '../group/transition.js';
import type { Access } from '../model/access.js';
import type { ProbeAddress } from '../model/znodes.js';

export interface Facts {
  readonly servers: readonly ServerFacts[];
  readonly session: SessionFacts | Problem;
  readonly group: GroupFacts | Problem;
  readonly node: NodeFacts;
}

/** Why it could not be found out, one line. */
export interface Problem {
  readonly problem: string;
  /** What helps, where that is known. */
  readonly todo?: string;
}

export function isProblem<T extends object>(facts: T | Problem): facts is Problem {
  return 'problem' in facts;
}

export interface ServerFacts {
  /** `host:port` */
  readonly server: string;
  /** What it answers to `srvr`, or why it does not. */
  readonly summary: ServerSummary | Problem;
  /** What it answers to `conf`; null where it is not to tell. */
  readonly timing: ServerTiming | null;
}

export interface ServerSummary {
  /** Null: it is there, and is not to tell. */
  readonly version: string | null;
  /** leader, follower, observer, standalone; null: it is not to tell, or serves nobody. */
  readonly mode: string | null;
  readonly isServing: boolean;
}

export interface ServerTiming {
  readonly tickTimeMs: number;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  /** Null for a server that is no part of an ensemble. */
  readonly syncLimitTicks: number | null;
}

export interface SessionFacts {
  readonly askedMs: number;
  readonly grantedMs: number;
}

export interface GroupFacts {
  readonly root: string;
  /** Null where all is to be open. */
  readonly access: Access | null;
  readonly znodes: readonly ZnodeAcl[];
  readonly members: readonly MemberFacts[];
  /** Who is READY; null: nobody. */
  readonly leader: string | null;
  /** Transitions past their time limit. */
  readonly late: readonly Transition[];
  /** What is wrong in the tree, one line each. */
  readonly problems: readonly string[];
  /** The ensemble's clock against this machine's; null where it could not be read. */
  readonly clock: ClockFacts | null;
  /** Fencing tokens in force; of a slot without a claim, the smallest that the next can have. */
  readonly tokens: readonly TokenSeen[];
}

export interface MemberFacts {
  readonly node: string;
  readonly version: string;
  /** By its own clock. */
  readonly startedAtMs: number;
  /** By the ensemble's. */
  readonly registeredAtMs: number;
  readonly probe: ProbeAddress | null;
  /** Peers that answer its probes; null where it does not probe, or has not told yet. */
  readonly reaches: readonly string[] | null;
  /**
   * Why no connection can be made from here to where it answers probes; null: it can, or it answers none by
   * TCP.
   */
  readonly unreachable: string | null;
}

export interface ClockFacts {
  /** How far this machine's clock is ahead of the ensemble's, in the middle of what is possible. */
  readonly aheadMs: number;
  /** By how much it may be more or less. */
  readonly withinMs: number;
}

export interface NodeFacts {
  readonly version: string;
  /** Why its settings make no agent, one line; null: they do. */
  readonly settings: string | null;
  /** Programs that cannot be run, one line each. */
  readonly hooks: readonly string[];
  readonly hasHooks: boolean;
  /** Files that hold a secret, with who may read them. */
  readonly secretFiles: readonly SecretFile[];
  /** Files that settings name. */
  readonly unreadable: readonly Pick<UnreadableFile, 'key' | 'path' | 'why'>[];
  /** Where HTTP is to be answered; null: nowhere. */
  readonly listen: ListenFacts | null;
  readonly system: SystemFacts;
  readonly transports: WireFacts;
  readonly certificates: readonly CertificateFacts[];
  /** What the agent remembers of fencing tokens; null: nothing. */
  readonly seenTokens: SeenTokens | Problem | null;
  /** By this machine's clock, by which it judges certificates. */
  readonly nowMs: number;
}

export interface ListenFacts {
  /** `address:port` */
  readonly address: string;
  /** By name, so that an agent that cannot have it does not start; not: it goes on without. */
  readonly isAskedFor: boolean;
  /** free: it can be had. taken: somebody has it already. Otherwise why it cannot be had: one line. */
  readonly state: 'free' | 'taken' | Problem;
  /** Which agent has it, and whether it is this node's; null: none has. */
  readonly owner: { readonly isOwn: boolean; readonly text: string } | null;
}

export interface WireFacts {
  /** Credentials are given, and a server is not on this machine, and there is no TLS. */
  readonly isPasswordInClear: boolean;
  /** A token is given, and other machines reach HTTP, and there is no TLS. */
  readonly isTokenInClear: boolean;
}

export interface CertificateFacts {
  readonly path: string;
  readonly key: string;
  /** Null: it cannot be read. */
  readonly endsAtMs: number | null;
}

export interface SecretFile {
  readonly path: string;
  readonly key: string;
  /** Null: it is not there, or cannot be seen. */
  readonly mode: number | null;
}

export interface SystemFacts {
  /** Whether /proc shows processes: what proves a workload dead. */
  readonly seesProcesses: boolean;
  /** Whether there is a /bin/sh for the reaper. */
  readonly hasShell: boolean;
}
