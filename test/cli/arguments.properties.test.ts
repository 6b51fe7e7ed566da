import { InvalidArgumentError } from 'commander';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duration, name, names, pointInTime, wholeNumber } from '../../src/cli/arguments.js';
import { exitCodeOf } from '../../src/cli/errors.js';
import { createProgram } from '../../src/cli/program.js';
import { everyPoint, parsePoint, pointName } from '../../src/dev/crash-points.js';
import { PetrelError } from '../../src/errors.js';
import { exitCodes } from '../../src/exit-code.js';
import { toInstant } from '../../src/model/names.js';
import { oneLine } from '../../src/model/outside.js';
import { anyText, expectClear, holds } from '../support/properties.js';

/** Parses a text. Returns undefined if the parser rejects it with the error that commander expects. */
function parsed<T>(parse: (text: string) => T, text: string): T | undefined {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    expectClear(error.message);
    return undefined;
  }
}

const nearly = fc.oneof(
  anyText,
  fc.string({ unit: fc.constantFrom(...'0123456789-+.eTZ:smhd ') }),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom('2026-02-30T00:00:00Z', '2026-01-01T00:00:00+99:99', '9999-12-31T23:59:59Z', '1e3', '0x10'),
);

describe('an argument', () => {
  it('is what it should be, or refused with what would be right', async () => {
    await holds(
      fc.property(nearly, (text) => {
        expect(parsed(wholeNumber(1, 50), text) ?? 1).toSatisfy((value) => value >= 1 && value <= 50);
        expect(parsed(duration, text) ?? 1).toSatisfy((value) => Number.isInteger(value) && value > 0);
        expect(parsed(name, text) ?? 'x').toMatch(/^[A-Za-z0-9]/);
        expect(parsed((one) => names(one, ['before']), text)?.length ?? 2).toBe(2);
        const at = parsed(pointInTime, text)?.(Date.UTC(2026));
        if (at !== undefined) expect(toInstant(at)).toMatch(/^\d{4}-/);
      }),
    );
  });

  it('that names a crash point is one of them, or refused with what may have been meant', async () => {
    const pieces = fc.constantFrom(
      'decided',
      'failover',
      'first',
      'candidate',
      'supervisor',
      'leader',
      '/',
      ':',
      'x',
    );
    const texts = fc.oneof(
      nearly,
      fc.array(pieces, { maxLength: 5 }).map((parts) => parts.join('')),
    );
    for (const point of everyPoint()) expect(parsePoint(pointName(point))).toEqual(point);
    await holds(
      fc.property(texts, (text) => {
        try {
          const point = parsePoint(text);
          expect(parsePoint(pointName(point))).toEqual(point);
        } catch (error) {
          if (!(error instanceof PetrelError)) throw error;
          expect(error.code).toBe('INVALID');
          expectClear(error.message);
        }
      }),
    );
  });

  it('anywhere on the command line is never more than wrong usage', async () => {
    const words = [
      ...[
        'list',
        'explain',
        'site',
        'priority',
        'node',
        'drain',
        'switchover',
        'pause',
        'config',
        'set',
        'wait',
      ],
      ...['--to', '--for', '--at', '--term', '-w', '--without', '-f', '-z', '-r', '--dry-run', '--', '-y'],
    ];
    const line = fc.array(fc.oneof(fc.constantFrom(...words), nearly), { minLength: 1, maxLength: 6 });
    await holds(
      fc.asyncProperty(line, async (args) => {
        const program = await createProgram();
        const quiet = { writeOut: () => {}, writeErr: () => {} };
        // No command does anything: the program reads the settings first, and they are invalid.
        const wrong = ['--connect-timeout', 'never'];
        for (const command of [program, ...program.commands]) command.configureOutput(quiet);
        try {
          await program.parseAsync([...wrong, ...args], { from: 'user' });
        } catch (error) {
          expect(exitCodeOf(error)).toBe(exitCodes.usage);
        }
      }),
    );
  });
});

describe('text of the tree on a terminal', () => {
  it('stays on its line and commands nothing', async () => {
    await holds(
      fc.property(anyText, (text) => {
        expect(oneLine(text)).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      }),
    );
  });
});
