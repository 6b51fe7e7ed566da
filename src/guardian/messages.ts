/**
 * Messages between an agent and its guardian, in addition to those between an agent and its supervisor
 * (`src/hooks/messages.ts`). Both processes belong to the same build, and no other process has access to
 * their channel.
 */
import { type FromGuards, isFromGuards, isToGuards, type ToGuards } from '../hooks/messages.js';
import {
  type Check,
  isFlag,
  isNumber,
  isOneOf,
  isText,
  listOf,
  oneOf,
  orNull,
  type Shapes,
  shaped,
} from '../hooks/schemas.js';

/** Parts of the TLS settings. A part is null if its setting is not given. */
export interface TlsParts {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
  readonly passphrase: string | null;
}

export interface TlsNote {
  /**
   * PEM data and passphrase, as the agent read them when it started. They are used while the files are
   * unusable.
   */
  readonly atStart: TlsParts;
  /** Paths of the files. */
  readonly files: TlsParts;
  readonly servername: string | null;
  readonly rejectUnauthorized: boolean;
}

/** Everything that is needed to end a session of the agent. It must be kept secret. */
export interface SessionNote {
  /** Session id as a decimal number. */
  readonly id: string;
  /** Session password in base64. */
  readonly password: string;
  /** The shortest timeout that the ensemble has ever granted. */
  readonly timeoutMs: number;
  /**
   * The longest timeout that the ensemble has ever granted. Without contact, the session may last this long.
   */
  readonly longestTimeoutMs: number;
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  /** TLS settings. Null if the session does not use TLS. */
  readonly tls: TlsNote | null;
  /** `USER:PASSWORD` for the digest scheme. Null if there are no credentials. */
  readonly auth: string | null;
}

export type FromAgent =
  | ToGuards
  /**
   * First message: the agent's identity, and the format of its log, which the guardian also uses.
   * `codeAtDeath` is the guardian's exit code if the agent dies after its command was started. If
   * `codeAtDeath` is null, the agent is started again instead. `codeOnSignal` determines the exit code if the
   * guardian is asked to exit while the agent is dead.
   */
  | {
      readonly type: 'hello';
      readonly node: string;
      /** Root of the agent's group. Null if the agent is in several groups. */
      readonly root: string | null;
      readonly log: 'json' | 'pretty';
      readonly codeAtDeath: number | null;
      readonly codeOnSignal: 'done' | 'signal';
    }
  /** The current session. */
  | { readonly type: 'session'; readonly session: SessionNote }
  /** The session has ended, or no longer concerns the guardian. */
  | { readonly type: 'session-over' }
  /** The agent is about to end because it has finished or cannot continue. It must not be started again. */
  | { readonly type: 'ended'; readonly code: number }
  /** Answer to `there?`. */
  | { readonly type: 'here' }
  /**
   * State of the node: a description for operators, and whether the node is registered, has a seat, and is
   * connected.
   */
  | { readonly type: 'status'; readonly joined: boolean; readonly text: string }
  /** A reload that was requested with SIGHUP has ended, successfully or not. */
  | { readonly type: 'reloaded' };

export type ToAgent =
  | FromGuards
  /** The guardian received a request to exit or to reload settings. */
  | { readonly type: 'signalled'; readonly signal: HandledSignal }
  | { readonly type: 'there?' };

export type HandledSignal = 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGHUP';
export const handledSignals: readonly HandledSignal[] = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'];

/** Content of the agent's first message, which identifies the agent. */
export type Hello = Omit<Extract<FromAgent, { type: 'hello' }>, 'type'>;

type ForGuardian = Exclude<FromAgent, ToGuards>;
type FromGuardian = Exclude<ToAgent, FromGuards>;

/** Whether the message is for the guardian itself, not for the guards of a group. */
export function isForGuardian(message: FromAgent): message is ForGuardian {
  return isOneOf(fromAgent, message);
}

/** Whether the message is from the guardian itself, not from the guards of a group. */
export function isFromGuardian(message: ToAgent): message is FromGuardian {
  return isOneOf(toAgent, message);
}

export function isFromAgent(message: unknown): message is FromAgent {
  return isToGuards(message) || isOneOf(fromAgent, message);
}

export function isToAgent(message: unknown): message is ToAgent {
  return isFromGuards(message) || isOneOf(toAgent, message);
}

const isLong: Check<string> = (value): value is string =>
  typeof value === 'string' && /^-?[1-9]\d{0,18}$/.test(value);

const isTlsParts = shaped<TlsParts>({
  ca: orNull(isText),
  cert: orNull(isText),
  key: orNull(isText),
  passphrase: orNull(isText),
});

const isSession = shaped<SessionNote>({
  id: isLong,
  password: isText,
  timeoutMs: isNumber,
  longestTimeoutMs: isNumber,
  servers: listOf(shaped({ host: isText, port: isNumber })),
  tls: orNull(
    shaped<TlsNote>({
      atStart: isTlsParts,
      files: isTlsParts,
      servername: orNull(isText),
      rejectUnauthorized: isFlag,
    }),
  ),
  auth: orNull(isText),
});

const fromAgent: Shapes<ForGuardian> = {
  hello: {
    node: isText,
    root: orNull(isText),
    log: oneOf('json', 'pretty'),
    codeAtDeath: orNull(isNumber),
    codeOnSignal: oneOf('done', 'signal'),
  },
  session: { session: isSession },
  'session-over': {},
  ended: { code: isNumber },
  here: {},
  status: { joined: isFlag, text: isText },
  reloaded: {},
};

const toAgent: Shapes<FromGuardian> = {
  signalled: { signal: oneOf(...handledSignals) },
  'there?': {},
};
