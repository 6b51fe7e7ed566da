import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const packageSchema = z.object({ name: z.literal('petrel'), version: z.string() });

/**
 * The directory in which Petrel is installed, and Petrel's version from the package.json in that directory.
 * The directory is the nearest one above this file that contains such a package.json.
 */
export const { packageDirectory, version } = readPackage(dirname(fileURLToPath(import.meta.url)));

function readPackage(directory: string): { readonly packageDirectory: string; readonly version: string } {
  try {
    const { version } = packageSchema.parse(
      JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')),
    );
    return { packageDirectory: directory, version };
  } catch {
    const parent = dirname(directory);
    return parent === directory ? { packageDirectory: directory, version: 'unknown' } : readPackage(parent);
  }
}
