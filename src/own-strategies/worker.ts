/**
 * Runs one strategy of a user's own, in a thread of its own: so that an endless loop in it stops nobody, and so that it
 * can be kept from what a pure function has no use for.
 */
import { isDeepStrictEqual } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import type { Ranked, Strategy } from '../../strategies/index.js';
import type { RankingInput, StrategyAnswer } from '../../strategies/questions.js';
import { rankingSchema } from '../core/ranking.js';
import { errorMessage } from '../errors.js';
import { describeIssues } from '../model/names.js';
import { type Asked, askedSchema, type Start, startSchema } from './messages.js';
import { samples } from './samples.js';
import { withoutSideEffects } from './side-effects.js';

// What a command prints is read by programs: a module's own words do not belong there.
process.stdout.write = process.stderr.write.bind(process.stderr);
// Nothing catches a failure: it ends the thread, which tells whoever started it.
void run(startSchema.parse(workerData));

async function run({ url, port }: Start): Promise<void> {
  const strategy = await readStrategy(url);
  const { name, description, version = null, usesScores = false } = strategy;
  parentPort?.postMessage({ name, description, version, usesScores });
  port.on('message', (message: unknown) => {
    const asked = askedSchema.parse(message);
    port.postMessage({ id: asked.id, ...answerTo(strategy, asked) });
  });
}

interface OwnStrategy extends Strategy {
  readonly version?: unknown;
}

async function readStrategy(url: string): Promise<OwnStrategy> {
  const module: unknown = await import(url);
  const found: unknown =
    typeof module === 'object' && module !== null && 'default' in module && module.default;
  if (!isStrategy(found)) {
    throw new Error(
      'its default export is no strategy: it wants name, description, options (a schema of zod’s) and rank',
    );
  }
  return found;
}

function isStrategy(value: unknown): value is OwnStrategy {
  if (typeof value !== 'object' || value === null) return false;
  if (!('name' in value && 'description' in value && 'options' in value && 'rank' in value)) return false;
  const { options, rank } = value;
  const isSchema = typeof options === 'object' && options !== null && 'safeParse' in options;
  return isSchema && typeof options.safeParse === 'function' && typeof rank === 'function';
}

function answerTo(strategy: OwnStrategy, asked: Asked): StrategyAnswer {
  try {
    const read = strategy.options.safeParse(asked.options);
    if (!read.success) {
      const issues = read.error.issues.map(({ path, message }) => ({ path: path.map(String), message }));
      return { problems: issues };
    }
    if (asked.input === null) return { problems: impurities(strategy, read.data) };
    return { ranking: ranked(strategy, asked.input, read.data) };
  } catch (error) {
    return { failure: errorMessage(error) };
  }
}

function ranked(strategy: OwnStrategy, input: RankingInput, options: unknown): Ranked[] {
  const answer: unknown = withoutSideEffects(() => strategy.rank({ ...input, options }));
  if (answer instanceof Promise) {
    throw new Error('rank answered with a promise: it is a plain function, not an async one');
  }
  const { length } = input.candidates;
  // Before it is looked at, and sent: it may be of any size.
  if (Array.isArray(answer) && answer.length > length) {
    throw new Error(`it was given ${length} nodes and ranked ${answer.length}`);
  }
  const ranking = rankingSchema.safeParse(answer);
  if (!ranking.success) throw new Error(describeIssues(ranking.error).join('; '));
  return ranking.data;
}

/** What can be seen of it by running it: twice on the same input, and on one that it may not change. */
function impurities(strategy: OwnStrategy, options: unknown): { path: string[]; message: string }[] {
  for (const sample of samples) {
    const [first, again] = [1, 2].map(() => ranked(strategy, frozen(sample), options));
    if (isDeepStrictEqual(first, again)) continue;
    return [{ path: [], message: 'it ranks the same nodes otherwise when it is asked again' }];
  }
  return [];
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}
