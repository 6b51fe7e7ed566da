/**
 * Breaks rules of the protocol on purpose. Each sabotage has a scenario in which the exploration must find
 * it.
 */
import { goodHands, type Hands } from './decide.js';
import { anyVersion } from './ensemble.js';
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

const checks = (what: 'seat' | 'elected' | 'member' | 'config' | 'successor') => (operation: Operation) =>
  'check' in operation && operation.check === what;

/**
 * Returns functions that omit the check of the own seat, or the write to the successor's, from each handover.
 */
function withoutSeat(which: 'own' | 'other'): Hands {
  return {
    ...goodHands,
    send: (request) => {
      if (request.purpose.for !== 'hand-over') return request;
      const ofSeat = (operation: Operation) =>
        which === 'own' ? checks('seat')(operation) : 'set' in operation && operation.set === 'seat';
      return { ...request, operations: request.operations.filter((operation) => !ofSeat(operation)) };
    },
  };
}

/** Returns functions that change the operations of all writes with one purpose. */
function sending(purpose: Request['purpose']['for'], change: (operation: Operation) => Operation): Hands {
  return {
    ...goodHands,
    send: (request) =>
      request.purpose.for === purpose ? { ...request, operations: request.operations.map(change) } : request,
  };
}

function overAny(operation: Operation): Operation {
  const isDecision = 'set' in operation && operation.set === 'elected';
  return isDecision ? { ...operation, version: anyVersion } : operation;
}

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
    rule: 'a handover checks the own seat',
    scenario: scenarioOf('leave-2-evicted'),
    sabotage: { hands: withoutSeat('own') },
    finding: /hands over a claim that another made/,
  },
  {
    rule: 'a handover writes to the seat of the successor',
    scenario: scenarioOf('leave-3-ill', { faults: ['delete-seat'], maxFaults: 1 }),
    sabotage: { hands: withoutSeat('other') },
    finding: /has no seat to be notified at/,
  },
  {
    rule: 'a handover checks the version of config',
    scenario: scenarioOf('leave-2-paused', { faults: [], maxFaults: 0 }),
    sabotage: { hands: without('hand-over', checks('config')) },
    finding: /hands over in a paused group/,
  },
  {
    rule: 'a handover checks the registration of the successor',
    scenario: scenarioOf('leave-3-ill', { faults: ['unhealthy'], maxFaults: 1 }),
    sabotage: { hands: without('hand-over', checks('member')) },
    finding: /hands over to .*: disk full/,
  },
  {
    rule: 'a handover sets elected at the version that it rests on',
    scenario: scenarioOf('leave-3-ill', { faults: ['unhealthy'], maxFaults: 1 }),
    sabotage: { hands: sending('hand-over', overAny) },
    finding: /hands over while .* is elected/,
  },
  {
    rule: 'a handover checks the published successor',
    scenario: scenarioOf('leave-3', { faults: ['crash'] }),
    sabotage: { hands: without('hand-over', checks('successor')) },
    finding: /hands over by a decision that the elector has replaced/,
  },
  {
    rule: 'a claim that rests on a published successor checks it',
    scenario: scenarioOf('leave-3-moved', { faults: [], maxFaults: 0 }),
    sabotage: { hands: without('claim', checks('successor')) },
    finding: /claims while .* is elected/,
  },
  {
    rule: 'a claim that rests on a published successor checks the version of elected',
    scenario: scenarioOf('leave-4-asked'),
    sabotage: {
      hands: {
        ...goodHands,
        send: (request) =>
          request.operations.some(checks('successor')) && request.purpose.for === 'claim'
            ? { ...request, operations: request.operations.filter((each) => !checks('elected')(each)) }
            : request,
      },
    },
    finding: /claims while .* is elected/,
  },
  {
    rule: 'a leader hands over when its workload is dead',
    scenario: scenarioOf('leave-2', { faults: [], maxFaults: 0 }),
    sabotage: {
      hands: hearing((agent) =>
        agent.leadership?.stage === 'releasing'
          ? { ...agent, leadership: { ...agent.leadership, stage: 'released' } }
          : agent,
      ),
    },
    finding: /hands over while its workload may live/,
  },
  {
    rule: 'an elector that elects itself and claims in one write checks its seat',
    scenario: scenarioOf('crash-2-ill', { faults: ['crash', 'delete-seat'] }),
    sabotage: { hands: without('decide-and-claim', checks('seat')) },
    finding: /elects itself without a seat/,
  },
  {
    rule: 'an elector that elects itself and claims in one write checks the version of config',
    scenario: scenarioOf('crash-2-paused', { faults: ['crash'], maxFaults: 1 }),
    sabotage: { hands: without('decide-and-claim', checks('config')) },
    finding: /elects itself in a paused group/,
  },
  {
    rule: 'an elector that elects itself does not overrule a request that it has not read',
    scenario: scenarioOf('crash-3-asked', { faults: ['crash'] }),
    sabotage: { hands: without('decide-and-claim', checks('config')) },
    finding: /elects itself although b1 is requested/,
  },
  {
    rule: 'an elector that elects itself and claims in one write sets elected at the version that it rests on',
    scenario: scenarioOf('leave-2-elsewhere'),
    sabotage: { hands: sending('decide-and-claim', overAny) },
    finding: /over a decision that it has not read/,
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
