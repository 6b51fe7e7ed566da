/**
 * How one setting is declared: its schema, and its key in the file, its flag and its environment variable.
 */
import * as z from 'zod';
import { errorMessage } from '../errors.js';

export interface SettingMeta {
  /** Key in the file; a dot is one level of nesting. */
  readonly key: string;
  /** As commander takes it; missing where a flag is no place for it. */
  readonly flags?: string;
  readonly env: string;
  readonly help: string;
  /** What the default is, where its value alone would not say it. */
  readonly defaultText?: string;
  /** Never shown. */
  readonly secret?: boolean;
  /** A path: in the file relative to the file's directory, elsewhere to the working directory. */
  readonly isPath?: boolean;
  /** A file that must be there and readable. */
  readonly isFile?: boolean;
  /**
   * From the text of a flag or a variable to what the file would hold. Throws an Error that says what is
   * wrong.
   */
  readonly fromText?: (texts: readonly string[]) => unknown;
  /** What separates several values in one variable; a flag is repeated instead. */
  readonly separator?: string;
}

export const settingMeta = z.registry<SettingMeta>();

export function setting<Schema extends z.ZodType>(schema: Schema, meta: SettingMeta): Schema {
  settingMeta.add(schema, meta);
  return schema;
}

export const optionalPath = () => z.string('a path').min(1, 'a path').nullable().prefault(null);

/** A text that `parse` takes; what it throws is what is said of another. */
export function parsedBy(parse: (text: string) => unknown, what: string) {
  return z.string(what).superRefine((input, context) => {
    try {
      parse(input);
    } catch (error) {
      context.addIssue({ code: 'custom', message: errorMessage(error), input });
    }
  });
}
