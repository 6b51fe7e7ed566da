/** Strategies of users' own, by the path of an ES module or the name of a package. */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtInRules, type Rules, type StrategyRegistry, strategies } from '../../strategies/index.js';
import { PetrelError } from '../errors.js';
import { OwnStrategy } from './own-strategy.js';

/** The rules that a process with these settings knows. Throws as `loadStrategies` does. */
export async function loadRules(settings: { readonly strategies: readonly string[] }): Promise<Rules> {
  return { ...builtInRules, strategies: await loadStrategies(settings.strategies) };
}

/**
 * The strategies that ship with Petrel, and those of these modules. A path begins with `/`, `./` or `../`; anything else
 * is a package, as it is found from the working directory.
 * Throws PetrelError INVALID for a module that cannot be loaded or is no strategy, and for a name that is taken.
 */
export async function loadStrategies(modules: readonly string[]): Promise<StrategyRegistry> {
  const urls = [...new Set(modules.map(urlOf))];
  const loaded = await Promise.all(urls.map(async (url) => ({ url, strategy: await loadOnce(url) })));
  const known = new Map(strategies);
  for (const { url, strategy } of loaded) {
    if (known.has(strategy.name)) throw nameTaken(url, strategy.name);
    known.set(strategy.name, strategy);
  }
  return known;
}

/** A process may run several nodes: one thread does for all of them. */
const loading = new Map<string, Promise<OwnStrategy>>();

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
  if (!strategies.has(strategy.name)) return strategy;
  await strategy.close();
  throw nameTaken(url, strategy.name);
}

function nameTaken(url: string, name: string): PetrelError {
  return new PetrelError(
    'INVALID',
    `strategies: ${url}: there is a strategy ${name} already: give yours another name`,
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
