/**
 * Breaks rules of the protocol on purpose. Each sabotage has a scenario in which the exploration must find
 * it.
 */
import { goodHands, type Hands } from './decide.js';
import { type Sabotage, type Scenario, scenarioOf } from './scenarios.js';
import type { Agent, Operation, Request } from './world.js';

export interface Broken {
  readonly rule: string;
  readonly scenario: Scenario;
  readonly sabotage: Sabotage;
  /** Pattern of the expected violation. */
  readonly finding: RegExp;
}

/** Returns functions that omit some operations from all writes with one purpose. */
function without(purpose: Request['purpose']['for'], isLeftOut: (operation: Operation) => boolean): Hands {
  return {
    ...goodHands,
    send: (request) =>
      request.purpose.for === purpose
        ? { ...request, operations: request.operations.filter((operation) => !isLeftOut(operation)) }
        : request,
  };
}

const checks = (what: 'seat' | 'elected' | 'member') => (operation: Operation) =>
  'check' in operation && operation.check === what;

function hearing(hears: (agent: Agent) => Agent): Hands {
  return { ...goodHands, hears };
}

export const sabotages: readonly Broken[] = [
  {
    rule: 'a claim checks the version of elected',
    scenario: scenarioOf('switchover-2', { faults: ['crash'] }),
    sabotage: { hands: without('claim', checks('elected')) },
    finding: /claims while .* is elected/,
  },
  {
    rule: 'READY checks the version of elected',
    scenario: scenarioOf('back-2', { faults: [] }),
    sabotage: { hands: without('ready', checks('elected')) },
    finding: /says READY while .* is elected/,
  },
  {
    rule: 'READY checks the own seat',
    scenario: scenarioOf('evict-2', { isLed: false, faults: ['evict-dead', 'crash'] }),
    sabotage: { hands: without('ready', checks('seat')) },
    finding: /READY in a claim that another made/,
  },
  {
    rule: 'a session outlives the lease',
    scenario: scenarioOf('switchover-2', { faults: ['freeze'] }),
    sabotage: { withoutLease: true },
    finding: /two nodes work at once/,
  },
  {
    rule: 'the claim is held until the release has ended',
    scenario: scenarioOf('switchover-2', { faults: ['takeover-fails'] }),
    sabotage: {
      hands: hearing((agent) =>
        agent.leadership?.stage === 'releasing'
          ? { ...agent, leadership: { ...agent.leadership, stage: 'released' } }
          : agent,
      ),
    },
    finding: /gives its claim away while its workload may live/,
  },
  {
    rule: 'a node remembers under which version it failed',
    scenario: scenarioOf('failing-2', { faults: ['takeover-fails'], maxFaults: 1 }),
    sabotage: { hands: hearing((agent) => ({ ...agent, failedUnder: null })) },
    finding: /claims again under version .* in which it failed/,
  },
  {
    rule: 'a fenced claim is removed only while the elected node has not claimed',
    scenario: scenarioOf('fence-3'),
    sabotage: {
      hands: {
        ...without(
          'remove-fenced',
          (operation) => checks('member')(operation) || checks('elected')(operation),
        ),
      },
    },
    finding: /was not fenced/,
  },
  {
    rule: 'who has taken over says READY',
    scenario: scenarioOf('first-2', { faults: [], maxFaults: 0 }),
    sabotage: {
      hands: hearing((agent) =>
        agent.leadership?.stage === 'taken-over'
          ? { ...agent, leadership: { ...agent.leadership, stage: 'taking-over' } }
          : agent,
      ),
    },
    finding: /nobody ever will|nobody does, for ever/,
  },
  {
    rule: 'an elector is unseated for what is plainly due alone',
    scenario: scenarioOf('question-b', { maxFaults: 0 }),
    sabotage: {
      hands: {
        ...goodHands,
        isDue: ({ actions }) => actions.some(({ do: verb }) => verb === 'write-elected'),
      },
    },
    finding: /never come to rest/,
  },
];
