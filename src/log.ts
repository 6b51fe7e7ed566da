/**
 * The log: JSON lines, or pretty ones on a terminal, to stderr. stdout is for what a command prints. Pretty
 * lines leave out what is too long to read on one; JSON lines have it all.
 *
 * JSON lines are never waited for, and what cannot be written is dropped. Pretty lines are: a terminal that
 * is held up holds up the process. Secrets are censored by the name of their key, at the top and one level
 * below; text is not searched.
 */
import { isatty } from 'node:tty';
import pino from 'pino';
import { LineWriter } from './line-writer.js';
import { visible, visibleJson } from './model/outside.js';
import { pinoPretty } from './on-demand.js';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** auto: pretty when stderr is a terminal. */
export const logFormats = ['auto', 'pretty', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

export type Logger = pino.Logger;

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Fields of every line, such as `node` and `root`. */
  readonly fields?: Readonly<Record<string, string>>;
}

const stderrFd = 2;
const tooLongForPeople = ['ranking', 'ineligible', 'record', 'outputTail'];
const maxBufferedBytes = 4 * 1024 * 1024;
const secretKeys = [
  'auth',
  'authorization',
  'bearerToken',
  'credentials',
  'httpToken',
  'passphrase',
  'password',
  'probeSecret',
  'secret',
  'sessionPassword',
  'tlsPassphrase',
];

export function createLogger({ level, format, fields = {} }: LogOptions): Logger {
  const isForPeople = isPretty(format);
  const options: pino.LoggerOptions = {
    level,
    // Much of what is logged was written by others.
    hooks: { streamWrite: isForPeople ? harmless : visibleJson },
    base: fields,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: pino.stdSerializers.err, fencingToken: wholeNumber, sessionId: wholeNumber },
    redact: { paths: secretKeys.flatMap((key) => [key, `*.${key}`]), censor: '[secret]' },
  };
  return pino(
    options,
    isForPeople ? prettyDestination(isatty(stderrFd)) : new LineWriter(stderrFd, maxBufferedBytes),
  );
}

/** For an agent in simulated time, which has nobody to tell. It touches no file. */
export const silentLogger: Logger = pino({ level: 'silent' }, { write: () => {} });

/** A line of JSON of which nothing is left that commands a terminal, or is not seen. */
function harmless(json: string): string {
  return visible(json).replaceAll(/\\(?:\\|u00[01][0-9a-f])|[\u007f-\u009f]/g, (found) =>
    found === '\\\\' ? found : ' ',
  );
}

/** Whether lines are written for people. */
export function isPretty(format: LogFormat): boolean {
  return format === 'pretty' || (format === 'auto' && isatty(stderrFd));
}

function prettyDestination(colorize: boolean): pino.DestinationStream {
  return pinoPretty()({
    destination: stderrFd,
    sync: true,
    colorize,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: ['pid', 'hostname', 'node', 'root', ...tooLongForPeople].join(','),
    messageFormat: '{if node}[{node}] {end}{msg}',
  });
}

/** 64-bit numbers are strings in every JSON that Petrel writes. */
function wholeNumber(value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
