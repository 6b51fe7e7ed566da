/** Seeds that have caught a sabotage before. A hunt tries these seeds first, so it usually ends quickly. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const file = fileURLToPath(new URL('./known-seeds.json', import.meta.url));

export type KnownSeeds = Readonly<Record<string, readonly number[]>>;

const schema = z.record(z.string(), z.array(z.int().min(0)));

export function readKnownSeeds(): KnownSeeds {
  return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
}

export function writeKnownSeeds(known: KnownSeeds): void {
  const lines = Object.entries(known).map(
    ([name, seeds]) => `  ${JSON.stringify(name)}: [${seeds.join(', ')}]`,
  );
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
}
