/** Declares a setting, with its schema, its key in the file, its flag and its environment variable. */
import * as z from 'zod';
import { errorMessage } from '../errors.js';

export interface SettingMeta {
  /** Key in the settings file. Dots separate levels of nesting. */
  readonly key: string;
  /** The flag in commander's syntax. Absent if the setting has no flag. */
  readonly flags?: string;
  readonly env: string;
  readonly help: string;
  /** Describes the default. Absent if the default value needs no description. */
  readonly defaultText?: string;
  /** Whether the value is a secret. Such a value is never shown. */
  readonly secret?: boolean;
  /**
   * Whether the value is a path. A path in the settings file is relative to the directory of that file. Any
   * other path is relative to the working directory.
   */
  readonly isPath?: boolean;
  /** Whether the value names a file that must exist and be readable. */
  readonly isFile?: boolean;
  /**
   * Converts the text of a flag or a variable to the value that the file would contain. Throws an Error that
   * says what is wrong.
   */
  readonly fromText?: (texts: readonly string[]) => unknown;
  /** Separator between several values in one variable. On the command line, the flag is repeated instead. */
  readonly separator?: string;
}

export const settingMeta = z.registry<SettingMeta>();

export function setting<Schema extends z.ZodType>(schema: Schema, meta: SettingMeta): Schema {
  settingMeta.add(schema, meta);
  return schema;
}

export const optionalPath = () =>
  z.string('expected a path').min(1, 'expected a path').nullable().prefault(null);

/**
 * Returns a schema for strings that `parse` accepts. If `parse` throws an error, the error's message becomes
 * the issue.
 */
export function parsedBy(parse: (text: string) => unknown, what: string) {
  return z.string(what).superRefine((input, context) => {
    try {
      parse(input);
    } catch (error) {
      context.addIssue({ code: 'custom', message: errorMessage(error), input });
    }
  });
}
