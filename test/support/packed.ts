/** Packages that npm has packed, installed without a network. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as z from 'zod';

export const project = fileURLToPath(new URL('../..', import.meta.url));

const manifestSchema = z.object({
  version: z.string(),
  dependencies: z.record(z.string(), z.string()),
  peerDependencies: z.record(z.string(), z.string()).default({}),
});

export async function manifestOf(folder: string): Promise<z.output<typeof manifestSchema>> {
  return manifestSchema.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
}

/** Unpacks a package as npm does. The package finds only those packages that it declares as dependencies. */
export async function unpack(packed: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await promisify(execFile)('tar', ['-xzf', packed, '--strip-components', '1', '-C', folder]);
  for (const dependency of Object.keys((await manifestOf(folder)).dependencies)) {
    const link = join(folder, 'node_modules', dependency);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(project, 'node_modules', dependency), link);
  }
}
