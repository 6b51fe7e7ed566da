/**
 * Score sources as defined in the settings. A source is a command, an HTTP address that returns a number, or
 * a metric on a Prometheus page.
 */
import * as z from 'zod';
import { errorMessage } from '../errors.js';
import { type Command, commandSchema } from '../hooks/command.js';
import { durationMs, durationSchema } from '../model/duration.js';
import { nameSchema, strictObject } from '../model/names.js';
import { cut } from '../model/outside.js';
import { plainMessage } from '../model/plain-message.js';
import { toleranceSchema } from './measuring.js';

/** Maximum number of scores per node, far more than a node needs. */
export const mostScores = 100;

const shortestMs = 100;
const longestMs = 3_600_000;
const fallbackMaxAgeMs = 10_000;

/** A duration in settings. It is validated, but kept as written. */
const period = durationSchema.superRefine((input, context) => {
  try {
    durationMs(input, { minMs: shortestMs, maxMs: longestMs });
  } catch (error) {
    context.addIssue({ code: 'custom', message: errorMessage(error), input });
  }
});

const rhythm = {
  /**
   * Time between the starts of two consecutive measurements. If a measurement takes longer, the next one
   * starts late.
   */
  every: period.default('1s'),
  /** Time limit of a measurement. A measurement that takes longer has failed. */
  timeout: period.default('1s'),
  /**
   * Maximum age of a value. If the last value is older, the score is missing. The default is 10 s or three
   * intervals, whichever is longer.
   */
  maxAge: period.optional(),
  /**
   * Amount by which the value must change before it is published again. The default depends on the name of
   * the score.
   */
  tolerance: toleranceSchema.optional(),
};

type Rhythm = z.output<z.ZodObject<typeof rhythm>>;

const addressRule =
  'expected an http:// or https:// address without a user name, such as http://127.0.0.1:9090/metrics';
const addressSchema = z.string(addressRule).refine(isAddress, addressRule);

const metricRule = 'expected a metric name of letters, digits, underscores and colons';
const labelRule = 'expected labels as names with string values';

const kinds = {
  command: strictObject({ command: commandSchema, ...rhythm }).superRefine(lastsLongEnough),
  http: strictObject({ http: addressSchema, ...rhythm }).superRefine(lastsLongEnough),
  prometheus: strictObject({
    prometheus: addressSchema,
    metric: z.string(metricRule).regex(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,255}$/, metricRule),
    /** Labels that a series must have. Series with additional labels match too. */
    labels: z.record(z.string(), z.string(labelRule), labelRule).default({}),
    /** Whether the metric is a counter and the score is its growth per second. */
    rate: z.boolean('expected true or false').default(false),
    ...rhythm,
  }).superRefine(lastsLongEnough),
} as const;
const kindNames = ['command', 'http', 'prometheus'] as const;

/** A score source as operators write it. */
export type ScoreSourceOptions = Command | z.input<(typeof kinds)[(typeof kindNames)[number]]>;
export type ScoreSource = z.output<(typeof kinds)[(typeof kindNames)[number]]>;
export type PrometheusSource = z.output<typeof kinds.prometheus>;

const sourceRule = 'expected a command, or an object with one of the keys command, http, prometheus';

/** Sources, keyed by name. A plain command is short for a source with that command. */
export const scoreSourcesSchema = z
  .record(z.string(), z.unknown(), 'expected scores as names with sources')
  .transform((entries, context): Readonly<Record<string, ScoreSource>> => {
    const names = Object.keys(entries);
    const refuse = (message: string, path: readonly PropertyKey[]) =>
      context.addIssue({ code: 'custom', message, path: [...path], input: entries });
    if (names.length > mostScores) refuse(`expected at most ${mostScores} scores`, []);
    const read = names.slice(0, mostScores).flatMap((name): [string, ScoreSource][] => {
      const known = nameSchema.safeParse(name);
      if (!known.success) refuse(plainMessage(known.error.issues[0]?.message ?? ''), [cut(name)]);
      const { data, error } = readSource(entries[name]);
      for (const { message, path } of error?.issues ?? [])
        refuse(plainMessage(message), [cut(name), ...path]);
      return data === undefined ? [] : [[name, data]];
    });
    return Object.fromEntries(read);
  });
export type SourcesByName = z.output<typeof scoreSourcesSchema>;

function readSource(input: unknown): z.ZodSafeParseResult<ScoreSource> {
  if (typeof input === 'string' || Array.isArray(input)) return kinds.command.safeParse({ command: input });
  const has = (kind: string) => typeof input === 'object' && input !== null && Object.hasOwn(input, kind);
  const [kind, ...others] = kindNames.filter(has);
  if (kind === undefined || others.length > 0) return oneKind.safeParse(input);
  return kinds[kind].safeParse(input);
}

const oneKind = z.never(sourceRule);

function lastsLongEnough({ every, timeout, maxAge }: Rhythm, context: z.RefinementCtx<Rhythm>): void {
  if (maxAge === undefined) return;
  const leastMs = durationMs(every) + durationMs(timeout);
  if (durationMs(maxAge) > leastMs) return;
  const message = `maxAge (${maxAge}) must be longer than every (${every}) plus timeout (${timeout}): otherwise the score is missing between two measurements`;
  context.addIssue({ code: 'custom', message, path: ['maxAge'], input: maxAge });
}

export function maxAgeMs({ every, timeout, maxAge }: Rhythm): number {
  if (maxAge !== undefined) return durationMs(maxAge);
  return Math.max(fallbackMaxAgeMs, 3 * Math.max(durationMs(every), durationMs(timeout)));
}

function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

/** Returns the commands that the sources run, keyed by their path in the settings. */
export function scoreCommands(sources: SourcesByName): Record<string, Command> {
  const commands = Object.entries(sources).flatMap(([name, source]): [string, Command][] =>
    'command' in source ? [[`scores.${name}`, source.command]] : [],
  );
  return Object.fromEntries(commands);
}
