/** Declares a setting: its schema, its key in the file, its flag and its environment variable. */
import * as z from 'zod';
import { errorMessage } from '../errors.js';

export interface SettingMeta {
  /** Key in the file. A dot separates levels of nesting. */
  readonly key: string;
  /** In commander's syntax. Absent if the setting has no flag. */
  readonly flags?: string;
  readonly env: string;
  readonly help: string;
  /** Describes the default if its value alone is not clear. */
  readonly defaultText?: string;
  /** The value is never shown. */
  readonly secret?: boolean;
  /**
   * The value is a path, relative to the file's directory if given in the file, else to the working
   * directory.
   */
  readonly isPath?: boolean;
  /** The value names a file that must exist and be readable. */
  readonly isFile?: boolean;
  /**
   * Converts the text of a flag or a variable to the value that the file would contain. Throws an Error that
   * says what is wrong.
   */
  readonly fromText?: (texts: readonly string[]) => unknown;
  /** Separator of several values in one variable. A flag is repeated instead. */
  readonly separator?: string;
}

export const settingMeta = z.registry<SettingMeta>();

export function setting<Schema extends z.ZodType>(schema: Schema, meta: SettingMeta): Schema {
  settingMeta.add(schema, meta);
  return schema;
}

export const optionalPath = () =>
  z.string('expected a path').min(1, 'expected a path').nullable().prefault(null);

/** Schema for a text that `parse` accepts. The message of an error that `parse` throws becomes the issue. */
export function parsedBy(parse: (text: string) => unknown, what: string) {
  return z.string(what).superRefine((input, context) => {
    try {
      parse(input);
    } catch (error) {
      context.addIssue({ code: 'custom', message: errorMessage(error), input });
    }
  });
}
