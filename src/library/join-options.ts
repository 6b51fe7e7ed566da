/** What a process says of itself when it joins a group: the options, and the rules they are held to. */
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
  /** `HOST:PORT` of this machine. */
  readonly listen: string;
  /**
   * `HOST` or `HOST:PORT` where others reach that; default the same, by the host's name if it is every
   * address.
   */
  readonly address?: string | undefined;
  /** Default `auto`: UDP, and TCP where that is not let through. */
  readonly protocol?: 'auto' | 'udp' | 'tcp' | undefined;
  /** A length of time like `1s`, the default: between two probes of a peer. */
  readonly interval?: string | undefined;
  /**
   * The same on all nodes of the group, 16 characters at least; without one whoever can send packets can
   * answer probes.
   */
  readonly secret?: string | undefined;
}

/** Each identity as `petrel acl digest` prints it; the same on all nodes of the group. */
export interface AclOptions {
  /** They may do everything; the `credentials` must be among them. Default: these alone. */
  readonly agents?: readonly string[] | undefined;
  /** They may change the group by commands. */
  readonly operators?: readonly string[] | undefined;
  readonly observers?: readonly string[] | undefined;
  /** What everybody may. Default `none`. */
  readonly world?: 'none' | 'read' | 'all' | undefined;
}

export interface JoinOptions {
  /** `host:port,host:port[/chroot]`; default `127.0.0.1:2181`. */
  readonly zookeeper?: string | undefined;
  /** Root path of the group; default `/cluster`. */
  readonly root?: string | undefined;
  /** Unique in the group; default the host's name. */
  readonly nodeId?: string | undefined;
  /** Default `default`. */
  readonly site?: string | undefined;
  /** Within the site; higher is better, 0 never leads. Default 100. */
  readonly priority?: number | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /**
   * What to measure of this node, by name, as an agent's settings file has it; `setScore` tells other scores.
   */
  readonly scores?: Readonly<Record<string, ScoreSourceOptions>> | undefined;
  /**
   * Strategies of your own, as the group's configuration may name them: paths of ES modules, or names of
   * packages.
   */
  readonly strategies?: readonly string[] | undefined;
  /** Constraints of your own, likewise. */
  readonly constraints?: readonly string[] | undefined;
  /** A length of time like `6s`, the default. The ensemble may grant another. */
  readonly sessionTimeout?: string | undefined;
  /** ZooKeeper's digest credentials, `USER:PASSWORD`. */
  readonly credentials?: string | undefined;
  /**
   * To whom the group's znodes are open; default: with `credentials` to these alone, without to everybody.
   */
  readonly acl?: AclOptions | undefined;
  readonly tls?: TlsOptions | undefined;
  /**
   * Where to remember the session, so that a process that crashed can join again at once; default nowhere.
   */
  readonly stateDir?: string | undefined;
  /** Measures round trips to the other nodes, and answers their probes; default: does neither. */
  readonly probe?: ProbeOptions | undefined;
  /** A pino logger; default silent. */
  readonly logger?: Logger | undefined;
  /** Gives up joining, or leaves. */
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

/** Throws PetrelError INVALID, with a reason for each option that is wrong. */
export function readJoinOptions(options: JoinOptions): JoinSettings {
  const parsed = joinSchema.safeParse(options);
  if (parsed.success) return parsed.data;
  const reasons = describeIssues(parsed.error);
  throw new PetrelError('INVALID', `options of Petrel.join: ${reasons.join('; ')}`, { reasons });
}

function isLogger(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'debug' in value && 'child' in value;
}
