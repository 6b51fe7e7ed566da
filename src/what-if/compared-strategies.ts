/**
 * The strategies that a simulation compares: those that are named or, by default, the group's own strategy
 * and all others that can be tried.
 */
import type { ReadyStrategy, Rules } from '../../strategies/registry.js';
import { PetrelError } from '../errors.js';
import type { GroupConfig } from '../model/group-config.js';
import { prepareStrategy } from '../model/read-config.js';

export type Named = Pick<GroupConfig, 'strategy' | 'strategyOptions'>;

export interface ComparedStrategy {
  readonly strategy: ReadyStrategy;
  /** The strategy and its options, as a configuration names them. */
  readonly named: Named;
  /** Whether the strategy uses a quorum of the whole group. */
  readonly needsQuorum: boolean;
  /**
   * Whether it is a failure if the strategy elects no node. True if the strategy was requested or is the
   * group's own.
   */
  readonly decides: boolean;
}

export interface Wanted {
  readonly own: Named;
  /**
   * Strategies to compare with the group's own. If the list is empty, all existing strategies are compared.
   */
  readonly listed: readonly Named[];
  /**
   * Names of strategies to use instead of `own` and `listed`. They use `options` if given, and
   * otherwise those in `own` or `listed`.
   */
  readonly names: readonly string[];
  /** Options for the strategies in `names`. Null if none were given. */
  readonly options: GroupConfig['strategyOptions'] | null;
}

export interface ComparedStrategies {
  readonly compared: readonly ComparedStrategy[];
  readonly leftOut: readonly { readonly strategy: string; readonly reason: string }[];
}

/**
 * Returns the strategies to compare. `size` is the number of nodes in the group. Throws PetrelError INVALID
 * if a strategy that must be compared cannot be used. Throws Unanswered if the answer from a strategy is
 * still pending.
 */
export function comparedStrategies(wanted: Wanted, size: number, rules: Rules): ComparedStrategies {
  const { own, listed, names } = wanted;
  const must = (named: Named, decides: boolean, from: string) => required(named, decides, from, size, rules);
  if (names.length > 0) {
    const compared = names.map((name) => must(optionsFor(name, wanted), true, '--strategy'));
    return { compared, leftOut: [] };
  }
  const ownOne = must(own, true, "the group's strategy");
  if (listed.length > 0) {
    return { compared: [ownOne, ...listed.map((named) => must(named, false, 'strategies'))], leftOut: [] };
  }
  const others = [...rules.strategies.keys()].filter((name) => name !== own.strategy);
  const tried = others.map((strategy) => ({
    strategy,
    ...prepared({ strategy, strategyOptions: {} }, size, rules),
  }));
  return {
    compared: [
      ownOne,
      ...tried.flatMap(({ ready, named, needsQuorum }) =>
        ready === null ? [] : [{ strategy: ready, named, needsQuorum, decides: false }],
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
  rules: Rules,
): ComparedStrategy {
  const { ready, problems, ...compared } = prepared(named, size, rules);
  if (ready !== null) return { strategy: ready, ...compared, decides };
  throw new PetrelError('INVALID', `${from}: ${problems.join('; ')}`, { reasons: problems });
}

interface Prepared {
  readonly ready: ReadyStrategy | null;
  readonly named: Named;
  readonly needsQuorum: boolean;
  readonly problems: readonly string[];
}

/**
 * Prepares a strategy. If the strategy accepts the group's size as an option, sets that option. A strategy
 * that uses a quorum needs the size, because it cannot count nodes that are down.
 */
function prepared({ strategy, strategyOptions }: Named, size: number, rules: Rules): Prepared {
  const withSize = { strategy, strategyOptions: { size, ...strategyOptions } };
  const sized = prepareStrategy(withSize, rules);
  if (sized.strategy !== null)
    return { ready: sized.strategy, named: withSize, needsQuorum: true, problems: [] };
  const named = { strategy, strategyOptions };
  const plain = prepareStrategy(named, rules);
  return { ready: plain.strategy, named, needsQuorum: false, problems: plain.problems ?? [] };
}
