import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const packageSchema = z.object({ name: z.literal('petrel'), version: z.string() });

/**
 * Petrel's version from the package.json with which Petrel was installed: the nearest one above this file.
 */
export const version = readVersion(dirname(fileURLToPath(import.meta.url)));

function readVersion(directory: string): string {
  try {
    return packageSchema.parse(JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))).version;
  } catch {
    const parent = dirname(directory);
    return parent === directory ? 'unknown' : readVersion(parent);
  }
}
