/** Reads Stryker's report, and compares the mutants that survived with the verdicts on them. */
import { z } from 'zod';

const positionSchema = z.object({ line: z.int(), column: z.int() });

export const reportSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.string(),
      mutants: z.array(
        z.object({
          mutatorName: z.string(),
          replacement: z.string().default(''),
          status: z.string(),
          location: z.object({ start: positionSchema, end: positionSchema }),
        }),
      ),
    }),
  ),
});
export type Report = z.infer<typeof reportSchema>;
type Mutant = Report['files'][string]['mutants'][number];

/** A mutant that no test can kill, because it behaves like the original code. */
export const equivalentSchema = z.strictObject({
  file: z.string(),
  /** The line on which the mutated code begins, without indentation. */
  line: z.string(),
  original: z.string(),
  replacement: z.string(),
  why: z.string(),
});
export type Equivalent = z.infer<typeof equivalentSchema>;

export interface Survivor extends Omit<Equivalent, 'why'> {
  readonly lineNumber: number;
  readonly isCovered: boolean;
}

export interface Score {
  readonly file: string;
  readonly mutants: number;
  readonly killed: number;
  readonly equivalent: number;
  /** Mutants that survived and are not equivalent as far as is known. */
  readonly survivors: readonly Survivor[];
}

const killing = new Set(['Killed', 'Timeout']);
const surviving = new Set(['Survived', 'NoCoverage']);

export function scoresOf({ files }: Report, equivalents: readonly Equivalent[]): Score[] {
  return Object.entries(files).map(([file, { source, mutants }]) => {
    const left = mutants
      .filter(({ status }) => surviving.has(status))
      .map((mutant) => survivorOf(file, source.split('\n'), mutant));
    const survivors = left.filter((one) => !equivalents.some((other) => isSame(one, other)));
    const killed = mutants.filter(({ status }) => killing.has(status)).length;
    return {
      file,
      mutants: killed + left.length,
      killed,
      equivalent: left.length - survivors.length,
      survivors,
    };
  });
}

/** Returns the verdicts on a file that fit none of its survivors. The code or the tests have changed. */
export function outdated({ files }: Report, equivalents: readonly Equivalent[]): Equivalent[] {
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n');
    const left = mutants
      .filter(({ status }) => surviving.has(status))
      .map((mutant) => survivorOf(file, lines, mutant));
    return equivalents.filter((one) => one.file === file && !left.some((other) => isSame(one, other)));
  });
}

/** Returns the share of mutants that were killed, of those that are not equivalent, in percent. */
export function percent({ mutants, killed, equivalent }: Pick<Score, 'mutants' | 'killed' | 'equivalent'>) {
  return mutants === equivalent ? 100 : (100 * killed) / (mutants - equivalent);
}

type Named = Omit<Equivalent, 'why'>;

function isSame(one: Named, other: Named): boolean {
  return (
    one.file === other.file &&
    one.line === other.line &&
    one.original === other.original &&
    one.replacement === other.replacement
  );
}

function survivorOf(file: string, lines: readonly string[], mutant: Mutant): Survivor {
  const { location, replacement, status } = mutant;
  return {
    file,
    lineNumber: location.start.line,
    line: (lines[location.start.line - 1] ?? '').trim(),
    original: textAt(lines, location),
    replacement,
    isCovered: status !== 'NoCoverage',
  };
}

/** Returns the text between two positions. Lines and columns start at 1. */
function textAt(lines: readonly string[], { start, end }: Mutant['location']): string {
  const chosen = lines.slice(start.line - 1, end.line);
  const last = chosen.length - 1;
  return chosen
    .map((line, index) =>
      line.slice(index === 0 ? start.column - 1 : 0, index === last ? end.column - 1 : undefined),
    )
    .join('\n');
}
