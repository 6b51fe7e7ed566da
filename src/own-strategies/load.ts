/** Strategies of users' own, by the path of an ES module or the name of a package. */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { addStrategy } from '../../strategies/index.js';
import { PetrelError } from '../errors.js';
import { OwnStrategy } from './own-strategy.js';

/**
 * Makes them known in this process, and tells their versions by name. A path begins with `/`, `./` or `../`; anything
 * else is a package, as it is found from the working directory.
 * Throws PetrelError INVALID for a module that cannot be loaded or is no strategy, and for a name that is taken.
 */
export async function loadStrategies(modules: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const loaded = await Promise.all(modules.map((module) => loadOnce(urlOf(module))));
  return Object.fromEntries(loaded.map(({ name, version }) => [name, version]));
}

const loading = new Map<string, Promise<OwnStrategy>>();

/** A process may run several nodes. */
function loadOnce(url: string): Promise<OwnStrategy> {
  const known = loading.get(url);
  if (known !== undefined) return known;
  const loaded = load(url);
  loading.set(url, loaded);
  loaded.catch(() => loading.delete(url));
  return loaded;
}

async function load(url: string): Promise<OwnStrategy> {
  const strategy = await OwnStrategy.load(url);
  if (addStrategy(strategy)) return strategy;
  await strategy.close();
  throw new PetrelError(
    'INVALID',
    `strategies: ${url}: there is a strategy ${strategy.name} already: give yours another name`,
  );
}

function urlOf(module: string): string {
  if (/^\.{0,2}\//.test(module)) return pathToFileURL(resolve(module)).href;
  try {
    const found = createRequire(join(process.cwd(), 'package.json')).resolve(module);
    return pathToFileURL(found).href;
  } catch (error) {
    const right = 'a path begins with /, ./ or ../, and a package has to be installed';
    throw new PetrelError('INVALID', `strategies: there is no package ${module} here; ${right}`, {
      cause: error,
    });
  }
}
