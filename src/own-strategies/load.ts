/**
 * Loads user-defined strategies and constraints. Each is identified by the path of an ES module or by the
 * name of a package.
 */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtInRules, type Rules } from '../../strategies/index.js';
import { PetrelError } from '../errors.js';
import { OwnConstraint } from './own-constraint.js';
import type { RuleSetting } from './own-rule.js';
import { OwnStrategy } from './own-strategy.js';

/**
 * Returns the rules for a process with these settings: the built-in rules and those of the named modules. A
 * path begins with `/`, `./` or `../`. Any other name is a package, which is resolved from the working
 * directory. Throws PetrelError INVALID if a module cannot be loaded, if it does not contain a rule of the
 * expected kind, or if the rule's name is already taken.
 */
export async function loadRules(settings: Readonly<Record<RuleSetting, readonly string[]>>): Promise<Rules> {
  const { strategies, ownConstraints } = builtInRules;
  const [ownStrategies, constraints] = await Promise.all([
    loadEach(settings.strategies, strategyModules),
    loadEach(settings.constraints, constraintModules),
  ]);
  return {
    ...builtInRules,
    strategies: new Map([...strategies, ...ownStrategies]),
    ownConstraints: new Map([...ownConstraints, ...constraints]),
  };
}

interface Loaded {
  readonly name: string;
  close(): Promise<void>;
}

interface Modules<Rule> {
  readonly setting: RuleSetting;
  readonly what: string;
  isTaken(name: string): boolean;
  load(url: string): Promise<Rule>;
  /**
   * Rules that are being loaded or have been loaded, keyed by module. If a process runs several nodes, they
   * share one thread per module.
   */
  readonly loading: Map<string, Promise<Rule>>;
}

const strategyModules: Modules<OwnStrategy> = {
  ...{ setting: 'strategies', what: 'strategy', loading: new Map() },
  isTaken: (name) => builtInRules.strategies.has(name),
  load: (url) => OwnStrategy.load(url),
};

const constraintModules: Modules<OwnConstraint> = {
  ...{ setting: 'constraints', what: 'constraint', loading: new Map() },
  // No check is needed here, because the constraint's thread itself rejects a name that is taken.
  isTaken: () => false,
  load: (url) => OwnConstraint.load(url),
};

/** Loads the rules and returns them, keyed by name. */
async function loadEach<Rule extends Loaded>(
  names: readonly string[],
  modules: Modules<Rule>,
): Promise<ReadonlyMap<string, Rule>> {
  const urls = [...new Set(names.map((name) => urlOf(name, modules.setting)))];
  const loaded = await Promise.all(urls.map(async (url) => ({ url, rule: await loadOnce(url, modules) })));
  const known = new Map<string, Rule>();
  for (const { url, rule } of loaded) {
    if (known.has(rule.name)) throw nameTaken(url, rule.name, modules);
    known.set(rule.name, rule);
  }
  return known;
}

function loadOnce<Rule extends Loaded>(url: string, modules: Modules<Rule>): Promise<Rule> {
  const { loading } = modules;
  const known = loading.get(url);
  if (known !== undefined) return known;
  const loaded = load(url, modules);
  loading.set(url, loaded);
  loaded.catch(() => loading.delete(url));
  return loaded;
}

async function load<Rule extends Loaded>(url: string, modules: Modules<Rule>): Promise<Rule> {
  const rule = await modules.load(url);
  if (!modules.isTaken(rule.name)) return rule;
  await rule.close();
  throw nameTaken(url, rule.name, modules);
}

function nameTaken(
  url: string,
  name: string,
  { setting, what }: Pick<Modules<unknown>, 'setting' | 'what'>,
): PetrelError {
  const message = `${setting}: ${url}: the ${what} name ${name} is already in use: choose another name`;
  return new PetrelError('INVALID', message);
}

function urlOf(module: string, setting: RuleSetting): string {
  if (/^\.{0,2}\//.test(module)) return pathToFileURL(resolve(module)).href;
  try {
    const found = createRequire(join(process.cwd(), 'package.json')).resolve(module);
    return pathToFileURL(found).href;
  } catch (error) {
    const right = 'start a path with /, ./ or ../, or install the package';
    throw new PetrelError('INVALID', `${setting}: package ${module} not found: ${right}`, {
      cause: error,
    });
  }
}
