/**
 * The log, written to stderr as JSON lines, or as pretty lines on a terminal. stdout is reserved for the
 * output of commands. JSON lines contain all fields. Pretty lines contain only the message, which states what
 * people need to know. At level debug or trace, pretty lines also contain the fields, except those that are
 * too long for one line.
 *
 * Writing JSON lines never blocks, and lines that cannot be written are dropped. Writing pretty lines can
 * block: a stalled terminal stalls the process. Secrets are recognized by the names of their keys, at the top
 * level and one level below, and are censored. The text of messages is not searched for secrets.
 */
import { isatty } from 'node:tty';
import pino from 'pino';
import { LineWriter } from './line-writer.js';
import { visible, visibleJson } from './model/outside.js';
import { pinoPretty } from './on-demand.js';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Log formats. `auto` means `pretty` if stderr is a terminal, and `json` otherwise. */
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
    // The log escapes control characters, because much of the logged data comes from untrusted sources.
    hooks: { streamWrite: isForPeople ? harmless : visibleJson },
    base: fields,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: pino.stdSerializers.err, fencingToken: wholeNumber, sessionId: wholeNumber },
    redact: { paths: secretKeys.flatMap((key) => [key, `*.${key}`]), censor: '[secret]' },
  };
  return pino(
    options,
    isForPeople ? prettyDestination(isatty(stderrFd), level) : new LineWriter(stderrFd, maxBufferedBytes),
  );
}

/** Logger for an agent in simulated time. Nobody reads its log. It opens no file. */
export const silentLogger: Logger = pino({ level: 'silent' }, { write: () => {} });

/** Returns a line of JSON without invisible characters and without terminal control characters. */
function harmless(json: string): string {
  return visible(json).replaceAll(/\\(?:\\|u00[01][0-9a-f])|[\u007f-\u009f]/g, (found) =>
    found === '\\\\' ? found : ' ',
  );
}

/** Whether lines are written in the pretty format. */
export function isPretty(format: LogFormat): boolean {
  return format === 'pretty' || (format === 'auto' && isatty(stderrFd));
}

function prettyDestination(colorize: boolean, level: LogLevel): pino.DestinationStream {
  const hasFields = level === 'debug' || level === 'trace';
  return pinoPretty()({
    destination: stderrFd,
    sync: true,
    colorize,
    singleLine: hasFields,
    hideObject: !hasFields,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: ['pid', 'hostname', 'node', 'root', ...tooLongForPeople].join(','),
    messageFormat: '{if node}[{node}] {end}{msg}',
  });
}

/** Returns a 64-bit number as a string, as in all JSON that Petrel writes. */
function wholeNumber(value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
