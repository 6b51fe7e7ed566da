/**
 * Dependencies that few commands use. They are loaded when they are first used, because loading them takes
 * longer than most commands.
 */
import { createRequire } from 'node:module';
import type pretty from 'pino-pretty';
import type * as Yaml from 'yaml';

const load = createRequire(import.meta.url);

export function yaml(): typeof Yaml {
  return load('yaml');
}

export function pinoPretty(): typeof pretty {
  return load('pino-pretty');
}
