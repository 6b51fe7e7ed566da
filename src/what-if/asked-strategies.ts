/** The strategies that a what-if compares: those that were named, else the group's own and whatever else can be tried. */
import { type ReadyStrategy, type StrategyRegistry, strategies } from '../../strategies/index.js';
import type { GroupConfig } from '../core/group-config.js';
import { prepareStrategy } from '../core/read-config.js';
import { PetrelError } from '../errors.js';

export type Named = Pick<GroupConfig, 'strategy' | 'strategyOptions'>;

export interface Asked {
  readonly strategy: ReadyStrategy;
  /** It reckons with a quorum of the whole group. */
  readonly needsQuorum: boolean;
  /** It was asked for, or it is the group's own: whether it elects somebody is the answer. */
  readonly decides: boolean;
}

export interface Wanted {
  readonly own: Named;
  /** To compare with; empty: all there are. */
  readonly listed: readonly Named[];
  /** Instead of both: names, with the options that they have in `own` or `listed` unless `options` are given. */
  readonly names: readonly string[];
  /** Null: none were given. */
  readonly options: GroupConfig['strategyOptions'] | null;
}

export interface AskedStrategies {
  readonly asked: readonly Asked[];
  readonly leftOut: readonly { readonly strategy: string; readonly reason: string }[];
}

/** `size`: how many nodes the group has. Throws PetrelError INVALID where one that is named cannot be used so. */
export function askedStrategies(wanted: Wanted, size: number, registry = strategies): AskedStrategies {
  const { own, listed, names } = wanted;
  const must = (named: Named, decides: boolean, from: string) =>
    required(named, decides, from, size, registry);
  if (names.length > 0) {
    const asked = names.map((name) => must(optionsFor(name, wanted), true, '--strategy'));
    return { asked, leftOut: [] };
  }
  const ownOne = must(own, true, "the group's strategy");
  if (listed.length > 0) {
    return { asked: [ownOne, ...listed.map((named) => must(named, false, 'strategies'))], leftOut: [] };
  }
  const others = [...registry.keys()].filter((name) => name !== own.strategy);
  const tried = others.map((strategy) => ({
    strategy,
    ...prepared({ strategy, strategyOptions: {} }, size, registry),
  }));
  return {
    asked: [
      ownOne,
      ...tried.flatMap(({ ready, needsQuorum }) =>
        ready === null ? [] : [{ strategy: ready, needsQuorum, decides: false }],
      ),
    ],
    leftOut: tried.flatMap(({ strategy, ready, problems }) =>
      ready === null ? [{ strategy, reason: problems.join('; ') }] : [],
    ),
  };
}

function optionsFor(strategy: string, { own, listed, options }: Wanted): Named {
  if (options !== null) return { strategy, strategyOptions: options };
  return [own, ...listed].find((named) => named.strategy === strategy) ?? { strategy, strategyOptions: {} };
}

function required(
  named: Named,
  decides: boolean,
  from: string,
  size: number,
  registry: StrategyRegistry,
): Asked {
  const { ready, needsQuorum, problems } = prepared(named, size, registry);
  if (ready !== null) return { strategy: ready, needsQuorum, decides };
  throw new PetrelError('INVALID', `${from}: ${problems.join('; ')}`, { reasons: problems });
}

interface Prepared {
  readonly ready: ReadyStrategy | null;
  readonly needsQuorum: boolean;
  readonly problems: readonly string[];
}

/** Whoever reckons with a quorum takes the group's size as an option: nodes that are down cannot be counted. */
function prepared({ strategy, strategyOptions }: Named, size: number, registry: StrategyRegistry): Prepared {
  const sized = prepareStrategy({ strategy, strategyOptions: { size, ...strategyOptions } }, registry);
  if (sized.strategy !== null) return { ready: sized.strategy, needsQuorum: true, problems: [] };
  const plain = prepareStrategy({ strategy, strategyOptions }, registry);
  return { ready: plain.strategy, needsQuorum: false, problems: plain.problems ?? [] };
}
