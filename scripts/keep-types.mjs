/** Removes the compiler's declaration files that the package's exports do not reach. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, normalize, relative } from 'node:path';

const folder = 'dist';

export function keepTypes(exported) {
  const kept = new Set();
  const keep = (file) => {
    if (kept.has(file)) return;
    kept.add(file);
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, path] of text.matchAll(/(?:\bfrom |\bimport\(|\bimport )['"](\.[^'"]+)\.js['"]/g))
      keep(normalize(join(file, '..', `${path}.d.ts`)));
  };
  for (const file of exported) keep(relative(folder, file));
  for (const file of readdirSync(folder, { recursive: true }))
    if (file.endsWith('.d.ts') && !kept.has(file)) rmSync(join(folder, file));
}
