/** Facts on which the checks are based. All facts are gathered before any check runs. */
import type { UnreadableFile } from '../config/read-settings.js';
import type { ZnodeAcl } from '../group/access.js';
import type { Transition } from '../group/transition.js';
import type { Access } from '../model/access.js';
import type { ProbeAddress } from '../model/znodes.js';
import type { SeenTokens, TokenSeen } from '../slots/seen-tokens.js';

export interface Facts {
  readonly servers: readonly ServerFacts[];
  readonly session: SessionFacts | Problem;
  readonly group: GroupFacts | Problem;
  readonly node: NodeFacts;
}

/** Why a fact could not be determined, in one line. */
export interface Problem {
  readonly problem: string;
  /** What the operator can do about it. Missing if no remedy is known. */
  readonly todo?: string;
}

export function isProblem<T extends object>(facts: T | Problem): facts is Problem {
  return 'problem' in facts;
}

export interface ServerFacts {
  /** Address of the server: `host:port`. */
  readonly server: string;
  /** The server's response to `srvr`, or the reason why there is no response. */
  readonly summary: ServerSummary | Problem;
  /** The server's response to `conf`. Null if there is none, for example because the command is disabled. */
  readonly timing: ServerTiming | null;
}

export interface ServerSummary {
  /** ZooKeeper release of the server. Null if the server is reachable but `srvr` is disabled. */
  readonly version: string | null;
  /**
   * Role of the server: leader, follower, observer or standalone. Null if `srvr` is disabled or the server
   * does not serve clients.
   */
  readonly mode: string | null;
  readonly isServing: boolean;
}

export interface ServerTiming {
  readonly tickTimeMs: number;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  /** ZooKeeper's `syncLimit`, in ticks. Null for a server that is not part of an ensemble. */
  readonly syncLimitTicks: number | null;
}

export interface SessionFacts {
  readonly requestedMs: number;
  readonly grantedMs: number;
}

export interface GroupFacts {
  readonly root: string;
  /** The access rights that the settings require. Null if the settings leave all znodes open. */
  readonly access: Access | null;
  /**
   * Whether the settings say who may access the group. Without such settings, `access` is only a guess: it
   * assumes that all agents of the group use this process's identity.
   */
  readonly hasAclSettings: boolean;
  readonly znodes: readonly ZnodeAcl[];
  readonly members: readonly MemberFacts[];
  /** The slots of the group, in order. */
  readonly slots: readonly SlotFacts[];
  /** Transitions that have passed their deadline. */
  readonly late: readonly Transition[];
  /** Problems with the group's znodes, one line each. */
  readonly problems: readonly string[];
  /**
   * Difference between the ensemble's clock and this machine's clock. Null if the ensemble's clock could not
   * be read.
   */
  readonly clock: ClockFacts | null;
  /** Current fencing tokens. For a slot without a claim, the smallest token that its next claim can have. */
  readonly tokens: readonly TokenSeen[];
}

export interface SlotFacts {
  /** The READY leader. Null if there is none. */
  readonly leader: string | null;
  /** Why the slot has this leader, or why it has none, in one line. */
  readonly reason: string;
  /**
   * True if a transition is under way and within its deadline. While no transition is under way, true if the
   * slot has never had a leader or is being removed.
   */
  readonly isChanging: boolean;
}

export interface MemberFacts {
  readonly node: string;
  readonly version: string;
  /** Start time of the agent, according to the clock of its node. */
  readonly startedAtMs: number;
  /** Time of the registration, according to the ensemble's clock. */
  readonly registeredAtMs: number;
  readonly probe: ProbeAddress | null;
  /**
   * Peers that answer the node's probes. Null if the node does not send probes or has not reported the peers.
   */
  readonly reaches: readonly string[] | null;
  /**
   * Why this machine cannot connect to the node's probe address. Null if it can, or if the node does not
   * answer probes over TCP.
   */
  readonly unreachable: string | null;
}

export interface ClockFacts {
  /**
   * Milliseconds by which this machine's clock is ahead of the ensemble's clock. The value is the middle of
   * the possible range.
   */
  readonly aheadMs: number;
  /** Half the width of the possible range, in milliseconds. */
  readonly withinMs: number;
}

export interface NodeFacts {
  readonly version: string;
  /** Why an agent would not start with these settings, in one line. Null if an agent would start. */
  readonly settings: string | null;
  /** Hook programs that cannot be executed, one line each. */
  readonly hooks: readonly string[];
  readonly hasHooks: boolean;
  /** Files that contain secrets, with their modes. */
  readonly secretFiles: readonly SecretFile[];
  /** Files that are named in settings but cannot be read. */
  readonly unreadable: readonly Pick<UnreadableFile, 'key' | 'path' | 'why'>[];
  /** Configured address of the HTTP server. Null if HTTP is off or any free port may be used. */
  readonly listen: ListenFacts | null;
  readonly system: SystemFacts;
  readonly transports: TransportFacts;
  readonly certificates: readonly CertificateFacts[];
  /** The fencing tokens that the agent remembers. Null if it remembers none. */
  readonly seenTokens: SeenTokens | Problem | null;
  /** The current time on this machine's clock. The validity of certificates is checked against this time. */
  readonly nowMs: number;
}

export interface ListenFacts {
  /** Address of the HTTP server: `address:port`. */
  readonly address: string;
  /**
   * Whether the address is set explicitly. If an explicit address is not available, the agent does not start.
   * If the default address is not available, the agent runs without HTTP.
   */
  readonly isConfigured: boolean;
  /**
   * free: the address is available. taken: the address is in use. A problem says in one line why the address
   * is not available.
   */
  readonly state: 'free' | 'taken' | Problem;
  /**
   * The agent that uses the address. Null if no agent uses the address.
   */
  readonly owner: ListenOwner | null;
}

export interface ListenOwner {
  readonly isOwn: boolean;
  readonly text: string;
  /** Name of the agent's node if it is another node of the same group. Null otherwise. */
  readonly peer: string | null;
}

export interface TransportFacts {
  /**
   * True if credentials are set, a server is on another machine, and TLS is off. The password is then sent
   * unencrypted.
   */
  readonly isPasswordInClear: boolean;
  /**
   * True if the token is set, other machines can reach the HTTP server, and TLS is off. The token is then
   * sent unencrypted.
   */
  readonly isTokenInClear: boolean;
}

export interface CertificateFacts {
  readonly path: string;
  readonly key: string;
  /** Time at which the certificate expires. Null if the certificate cannot be read. */
  readonly endsAtMs: number | null;
}

export interface SecretFile {
  readonly path: string;
  readonly key: string;
  /** Mode of the file. Null if the file does not exist or cannot be inspected. */
  readonly mode: number | null;
}

export interface SystemFacts {
  /** True if /proc shows processes. Otherwise, Petrel cannot prove that a workload is dead. */
  readonly seesProcesses: boolean;
  /** Whether /bin/sh exists. The reaper needs it. */
  readonly hasShell: boolean;
}
