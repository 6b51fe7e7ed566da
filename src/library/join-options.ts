/** Options with which a process joins a group, and their validation. */
import * as z from 'zod';
import { accessFields } from '../config/access-settings.js';
import { probeSettings } from '../config/probe-settings.js';
import { agentSettings } from '../config/settings.js';
import { PetrelError } from '../errors.js';
import type { Logger } from '../log.js';
import { describeIssues, strictObject } from '../model/names.js';
import { probeSecretSchema } from '../probe/secret.js';
import type { ScoreSourceOptions } from '../scores/source.js';
import type { TlsOptions } from '../zookeeper/tls-options.js';

export interface ProbeOptions {
  /** Address of this machine at which to answer probes, in the form `HOST:PORT`. */
  readonly listen: string;
  /**
   * `HOST` or `HOST:PORT` at which other nodes reach the listener. Default: the listen address. If the listen
   * address is a wildcard address, its host is replaced by the host name of this machine.
   */
  readonly address?: string | undefined;
  /** Transport for probes. The default `auto` uses UDP, and TCP if UDP is blocked. */
  readonly protocol?: 'auto' | 'udp' | 'tcp' | undefined;
  /** Interval between probes of a peer. Default: `1s`. */
  readonly interval?: string | undefined;
  /**
   * Secret of at least 16 characters, which must be the same on all nodes of the group. Without a secret,
   * anyone who can send packets can answer probes.
   */
  readonly secret?: string | undefined;
}

/**
 * Identities that have access to the group. Each identity has the form that `petrel acl digest` prints. The
 * options must be the same on all nodes of the group.
 */
export interface AclOptions {
  /**
   * Identities of agents, which may do everything. They must include the identity of `credentials`. Default:
   * only that identity.
   */
  readonly agents?: readonly string[] | undefined;
  /** Identities of operators, who may change the group with commands. */
  readonly operators?: readonly string[] | undefined;
  readonly observers?: readonly string[] | undefined;
  /** Rights of all clients, with or without credentials. Default: `none`. */
  readonly world?: 'none' | 'read' | 'all' | undefined;
}

export interface JoinOptions {
  /** Servers of the ensemble, in the form `host:port,host:port[/chroot]`. Default: `127.0.0.1:2181`. */
  readonly zookeeper?: string | undefined;
  /** Root path of the group. Default: `/cluster`. */
  readonly root?: string | undefined;
  /** Id of this node, unique in the group. Default: the host name. */
  readonly nodeId?: string | undefined;
  /** Site of this node. Default: `default`. */
  readonly site?: string | undefined;
  /**
   * Priority within the site. A higher value is better, and a node with priority 0 never leads. Default: 100.
   */
  readonly priority?: number | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /**
   * Scores to measure on this node, keyed by name, as in an agent's settings file. Other scores can be set
   * with `setScore`.
   */
  readonly scores?: Readonly<Record<string, ScoreSourceOptions>> | undefined;
  /**
   * Your own strategies, which the group's configuration may refer to. Each is the path of an ES module or
   * the name of a package.
   */
  readonly strategies?: readonly string[] | undefined;
  /** Your own constraints. Each is the path of an ES module or the name of a package. */
  readonly constraints?: readonly string[] | undefined;
  /** Requested session timeout. The ensemble may grant a different one. Default: `6s`. */
  readonly sessionTimeout?: string | undefined;
  /** ZooKeeper digest credentials, in the form `USER:PASSWORD`. */
  readonly credentials?: string | undefined;
  /**
   * Access to the group's znodes. Default: only clients with the `credentials` have access. If there are no
   * `credentials`, everyone has access.
   */
  readonly acl?: AclOptions | undefined;
  readonly tls?: TlsOptions | undefined;
  /**
   * Directory in which to save the session, so that the process can rejoin immediately after a crash.
   * Default: none.
   */
  readonly stateDir?: string | undefined;
  /**
   * If set, this node measures round trips to the other nodes and answers their probes. Default: it does
   * neither.
   */
  readonly probe?: ProbeOptions | undefined;
  /** A pino logger. By default, nothing is logged. */
  readonly logger?: Logger | undefined;
  /**
   * Signal that cancels the join while the join is in progress. After the join, the signal makes the process
   * leave the group.
   */
  readonly signal?: AbortSignal | undefined;
}

const { zookeeper, root, nodeId, site, priority, tags, scores, strategies, constraints, sessionTimeoutMs } =
  agentSettings.shape;

const { probeListen, probeAddress, probeProtocol, probeIntervalMs } = agentSettings.shape;

const probeSchema = strictObject({
  listen: probeListen.unwrap().unwrap(),
  address: probeAddress,
  protocol: probeProtocol,
  interval: probeIntervalMs,
  secret: probeSecretSchema.nullable().prefault(null),
}).transform(({ listen, address, protocol, interval, secret }) =>
  probeSettings({
    probeListen: listen,
    probeAddress: address,
    probeProtocol: protocol,
    probeIntervalMs: interval,
    probeSecret: secret,
    probeSecretFile: null,
  }),
);

const joinSchema = strictObject({
  zookeeper,
  root,
  nodeId,
  site,
  priority,
  tags,
  scores,
  strategies,
  constraints,
  sessionTimeout: sessionTimeoutMs,
  credentials: z
    .string('expected USER:PASSWORD')
    .regex(/^[^:]+:.+$/s, 'expected USER:PASSWORD')
    .optional(),
  acl: strictObject({
    agents: accessFields.aclAgents,
    operators: accessFields.aclOperators,
    observers: accessFields.aclObservers,
    world: accessFields.aclWorld,
  }).prefault({}),
  tls: z
    .custom<TlsOptions>((value) => typeof value === 'object', 'expected an object: ca, cert, key, …')
    .optional(),
  stateDir: z.string('expected a path').min(1, 'expected a path').optional(),
  probe: probeSchema.optional(),
  logger: z.custom<Logger>(isLogger, 'expected a pino logger').optional(),
  signal: z.instanceof(AbortSignal, { message: 'expected an AbortSignal' }).optional(),
});

export type JoinSettings = z.output<typeof joinSchema>;

/** Returns the validated settings. Throws PetrelError INVALID with a reason for each invalid option. */
export function readJoinOptions(options: JoinOptions): JoinSettings {
  const parsed = joinSchema.safeParse(options);
  if (parsed.success) return parsed.data;
  const reasons = describeIssues(parsed.error);
  throw new PetrelError('INVALID', `options of Petrel.join: ${reasons.join('; ')}`, { reasons });
}

function isLogger(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'debug' in value && 'child' in value;
}
