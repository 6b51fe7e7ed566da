/**
 * What an agent and its guardian say to each other, beside what an agent and its supervisor do
 * (`src/hooks/messages.ts`). Both are of one build, and nobody else has their channel.
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

/** Null where the setting is not given. */
export interface TlsParts {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
  readonly passphrase: string | null;
}

export interface TlsNote {
  /** PEM texts and passphrase as the agent read them at its start, for where the files will not do. */
  readonly atStart: TlsParts;
  /** Paths. */
  readonly files: TlsParts;
  readonly servername: string | null;
  readonly rejectUnauthorized: boolean;
}

/** All that it takes to end a session of the agent's. A secret. */
export interface SessionNote {
  /** As a decimal number. */
  readonly id: string;
  /** In base64. */
  readonly password: string;
  /** The smallest that the ensemble ever granted. */
  readonly timeoutMs: number;
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  /** Null: in the clear. */
  readonly tls: TlsNote | null;
  /** `USER:PASSWORD` of the scheme digest; null: none. */
  readonly auth: string | null;
}

export type FromAgent =
  | ToGuards
  /**
   * First: who it is, how its log looks, so that the guardian's does too, and what to exit with when it dies
   * after its command was started (null: it is started again), and when somebody asks for the end while it is
   * dead.
   */
  | {
      readonly type: 'hello';
      readonly node: string;
      /** Null: of several groups. */
      readonly root: string | null;
      readonly log: 'json' | 'pretty';
      readonly codeAtDeath: number | null;
      readonly codeWhenAsked: 'done' | 'signal';
    }
  /** The session in force. */
  | { readonly type: 'session'; readonly session: SessionNote }
  /** It was ended, or is none of the guardian's affair any more. */
  | { readonly type: 'session-over' }
  /** The agent ends because it has done what it was for, or cannot: it is not to be started again. */
  | { readonly type: 'ended'; readonly code: number }
  /** The answer to `there?`. */
  | { readonly type: 'here' }
  /** How the node is, in words, and whether it is registered, has a seat, and is in touch. */
  | { readonly type: 'status'; readonly joined: boolean; readonly text: string }
  /** Settings have been read anew, as SIGHUP asked for, or could not be. */
  | { readonly type: 'reloaded' };

export type ToAgent =
  | FromGuards
  /** Somebody asked the guardian to end, or to have settings read anew. */
  | { readonly type: 'asked'; readonly signal: AskedSignal }
  | { readonly type: 'there?' };

export type AskedSignal = 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGHUP';
export const askedSignals: readonly AskedSignal[] = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'];

/** Whose guardian it is, as the agent tells it first. */
export type Hello = Omit<Extract<FromAgent, { type: 'hello' }>, 'type'>;

type FromAgentAlone = Exclude<FromAgent, ToGuards>;
type ToAgentAlone = Exclude<ToAgent, FromGuards>;

/** What the guard of a life does not do. */
export function isAboutLife(message: FromAgent): message is FromAgentAlone {
  return isOneOf(fromAgent, message);
}

export function isAboutGuardian(message: ToAgent): message is ToAgentAlone {
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

const fromAgent: Shapes<FromAgentAlone> = {
  hello: {
    node: isText,
    root: orNull(isText),
    log: oneOf('json', 'pretty'),
    codeAtDeath: orNull(isNumber),
    codeWhenAsked: oneOf('done', 'signal'),
  },
  session: { session: isSession },
  'session-over': {},
  ended: { code: isNumber },
  here: {},
  status: { joined: isFlag, text: isText },
  reloaded: {},
};

const toAgent: Shapes<ToAgentAlone> = {
  asked: { signal: oneOf(...askedSignals) },
  'there?': {},
};
