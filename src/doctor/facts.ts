/** The facts that the checks are based on. All facts are gathered before any check runs. */
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

/** Why a fact could not be determined, on one line. */
export interface Problem {
  readonly problem: string;
  /** What helps, if known. */
  readonly todo?: string;
}

export function isProblem<T extends object>(facts: T | Problem): facts is Problem {
  return 'problem' in facts;
}

export interface ServerFacts {
  /** `host:port` */
  readonly server: string;
  /** Its response to `srvr`, or why there is none. */
  readonly summary: ServerSummary | Problem;
  /** Its response to `conf`. Null if that command is disabled. */
  readonly timing: ServerTiming | null;
}

export interface ServerSummary {
  /** Null if the server is reachable but the command is disabled. */
  readonly version: string | null;
  /**
   * leader, follower, observer or standalone. Null if the command is disabled or the server serves no
   * clients.
   */
  readonly mode: string | null;
  readonly isServing: boolean;
}

export interface ServerTiming {
  readonly tickTimeMs: number;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  /** Null for a server that is not part of an ensemble. */
  readonly syncLimitTicks: number | null;
}

export interface SessionFacts {
  readonly askedMs: number;
  readonly grantedMs: number;
}

export interface GroupFacts {
  readonly root: string;
  /** Null if the settings leave all znodes open. */
  readonly access: Access | null;
  readonly znodes: readonly ZnodeAcl[];
  readonly members: readonly MemberFacts[];
  /** The READY leader, or null if there is none. */
  readonly leader: string | null;
  /** Transitions past their deadline. */
  readonly late: readonly Transition[];
  /** Problems with the group's znodes, one line each. */
  readonly problems: readonly string[];
  /** The ensemble's clock compared with this machine's. Null if it could not be read. */
  readonly clock: ClockFacts | null;
  /** Current fencing tokens. For a slot without a claim, the smallest token that the next claim can have. */
  readonly tokens: readonly TokenSeen[];
}

export interface MemberFacts {
  readonly node: string;
  readonly version: string;
  /** By its own clock. */
  readonly startedAtMs: number;
  /** By the ensemble's clock. */
  readonly registeredAtMs: number;
  readonly probe: ProbeAddress | null;
  /** Peers that answer its probes. Null if it does not probe, or has not reported yet. */
  readonly reaches: readonly string[] | null;
  /**
   * Why this machine cannot connect to its probe address. Null if it can, or if the node does not answer
   * probes over TCP.
   */
  readonly unreachable: string | null;
}

export interface ClockFacts {
  /** How far this machine's clock is ahead of the ensemble's: the middle of the possible range. */
  readonly aheadMs: number;
  /** Half the width of that range. */
  readonly withinMs: number;
}

export interface NodeFacts {
  readonly version: string;
  /** Why an agent would not start with these settings, on one line. Null if it would. */
  readonly settings: string | null;
  /** Programs that cannot be executed, one line each. */
  readonly hooks: readonly string[];
  readonly hasHooks: boolean;
  /** Files that contain a secret, with their modes. */
  readonly secretFiles: readonly SecretFile[];
  /** Unreadable files that settings name. */
  readonly unreadable: readonly Pick<UnreadableFile, 'key' | 'path' | 'why'>[];
  /** Configured address of the HTTP server. Null if there is none. */
  readonly listen: ListenFacts | null;
  readonly system: SystemFacts;
  readonly transports: WireFacts;
  readonly certificates: readonly CertificateFacts[];
  /** The fencing tokens that the agent remembers. Null if there are none. */
  readonly seenTokens: SeenTokens | Problem | null;
  /** By this machine's clock, which it also uses for checking certificates. */
  readonly nowMs: number;
}

export interface ListenFacts {
  /** `address:port` */
  readonly address: string;
  /**
   * Whether the address is set explicitly. If it is not available, the agent then does not start. Otherwise
   * it runs without HTTP.
   */
  readonly isAskedFor: boolean;
  /** free: available. taken: in use. Otherwise why it is not available, on one line. */
  readonly state: 'free' | 'taken' | Problem;
  /** The agent that uses it, and whether that is this node's. Null if no agent does. */
  readonly owner: { readonly isOwn: boolean; readonly text: string } | null;
}

export interface WireFacts {
  /** Whether credentials are set, a server is on another machine, and TLS is off. */
  readonly isPasswordInClear: boolean;
  /** Whether a token is set, other machines can reach the HTTP server, and TLS is off. */
  readonly isTokenInClear: boolean;
}

export interface CertificateFacts {
  readonly path: string;
  readonly key: string;
  /** Null if it cannot be read. */
  readonly endsAtMs: number | null;
}

export interface SecretFile {
  readonly path: string;
  readonly key: string;
  /** Null if the file does not exist or cannot be inspected. */
  readonly mode: number | null;
}

export interface SystemFacts {
  /** Whether /proc shows processes, which is needed to prove that a workload is dead. */
  readonly seesProcesses: boolean;
  /** Whether the reaper's /bin/sh exists. */
  readonly hasShell: boolean;
}
