/** Helpers for testing user-defined strategies. */
import {
  builtInRules,
  type Candidate,
  type Ranked,
  register,
  type Strategy,
  type StrategyInput,
} from '../../strategies/index.js';
import { heldToContract } from '../core/ranking.js';
import { PetrelError } from '../errors.js';
import { exampleInput } from './example-input.js';

/** A node for a test. Fields that do not matter to the test can be omitted. */
export type TriedNode = Pick<Candidate, 'node'> & Partial<Candidate>;

/**
 * The remaining input of a strategy. Omitted fields have the values of a group's first election, at midnight.
 */
export type TriedInput<Options> = Partial<Omit<StrategyInput<Options>, 'candidates' | 'options'>> & {
  readonly options?: unknown;
};

/**
 * Returns the strategy's ranking of the given nodes. Their seats follow the order of `nodes`. Throws
 * PetrelError INVALID if the strategy does not accept the options. Throws RuleFault if the strategy breaks
 * the contract of `rank`.
 */
export function tryStrategy<Options>(
  strategy: Strategy<Options>,
  nodes: readonly TriedNode[],
  { options = {}, ...rest }: TriedInput<Options> = {},
): readonly Ranked[] {
  const { strategy: ready, problems } = register(strategy).prepare(options, builtInRules);
  if (ready === null) throw new PetrelError('INVALID', problems.join('; '), { reasons: problems });
  const candidates = nodes
    .map((node, seat) => ({
      site: 'a',
      priority: 100,
      sitePriority: 100,
      seat,
      scores: new Map(),
      tags: {},
      ...node,
    }))
    .toSorted((a, b) => (a.node < b.node ? -1 : 1));
  const answer = ready.rank({ ...exampleInput(candidates, 0), ...rest });
  return heldToContract(
    strategy,
    answer,
    candidates.map(({ node }) => node),
  );
}
