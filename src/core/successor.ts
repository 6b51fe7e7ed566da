/**
 * The successor: the node that follows if the leader leaves. The elector makes this decision in advance and
 * publishes it. A departing leader can then put the decision into effect itself, in the same transaction that
 * deletes its claim.
 *
 * The decision is the one that the elector would make now if the leader announced that it is leaving. The
 * decision names every version on which it is based. If the decision could depend on anything else, for
 * example on the time, no successor is published, and a departing leader waits for the elector.
 *
 * Not promised: that the successor is the best node. A better node that registers shortly before the leader
 * leaves may come too late for the published decision.
 */
import { encodedText } from '../model/names.js';
import type { Member } from '../model/snapshot.js';
import { type Successor, successorSchema } from '../model/znodes.js';
import type { Choice } from './choice-input.js';
import { ineligibleText } from './constraint.js';
import { nextInstantInMs } from './deadlines.js';
import { type ElectorAction, nextDecision, type PublishSuccessor } from './decision.js';
import type { Election, JudgedElection } from './election-input.js';
import type { KnownSuccessor } from './elector-memory.js';
import { pausedText } from './operator-decision.js';

/**
 * The action that publishes a successor, or null if there is nothing to publish, and the result of the
 * search.
 */
interface Published {
  readonly publish: PublishSuccessor | null;
  readonly known: KnownSuccessor | null;
}

/** Returns the choice that the elector would make if the group had these members, and what it rests on. */
type ChooseAmong = (members: readonly Member[]) => {
  readonly found: JudgedElection;
  readonly choice: Choice;
};

/**
 * Returns the action that publishes the successor. Returns no action if the published successor is still
 * correct, if the elected node is not READY, or if the `due` actions are about to change the basis for a
 * successor. Searches for a successor only if this basis has changed since the last search.
 */
export function publishSuccessor(
  seen: Election,
  due: readonly ElectorAction[],
  chooseAmong: ChooseAmong,
): Published {
  const { snapshot, memory } = seen;
  const { successor: published, elected, config } = snapshot;
  const isQuiet = due.every(({ do: verb }) => verb === 'record');
  if (published === undefined || !isQuiet || !isReadyInTerm(seen))
    return { publish: null, known: memory.successor };
  const known = knownSuccessor(seen, chooseAmong);
  const { found } = known;
  const isPublished = published !== null && JSON.stringify(published.value) === JSON.stringify(found);
  if (found === null || isPublished) return { publish: null, known };
  const versions = { electedVersion: elected.version, configVersion: config.version };
  const version = published?.version ?? null;
  return { publish: { do: 'publish-successor', successor: found, version, ...versions }, known };
}

function knownSuccessor(seen: Election, chooseAmong: ChooseAmong): KnownSuccessor {
  const before = seen.memory.successor;
  const restsOn = restsOnIn(seen);
  if (before !== null && isSame(before.restsOn, restsOn)) return before;
  const found = successorOf(seen, chooseAmong);
  return { restsOn, found: found === null ? null : asStored(found) };
}

function isSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.length === now.length && before.every((value, index) => value === now[index]);
}

/**
 * Returns everything that the successor is based on, as values that are compared by identity. Every value is
 * immutable. If a value is replaced by an equal copy, the only effect is one more search. A change is never
 * missed. The time matters only while a time limit has yet to expire. Otherwise, it affects only which
 * failures are remembered.
 */
function restsOnIn(seen: Election): unknown[] {
  const { self, snapshot, config, strategy, constraints, members, previous, failures, elsewhere } = seen;
  return [
    ...[self, elsewhere, config, snapshot.config.version, snapshot.elected.value, snapshot.elected.version],
    ...[previous?.node, previous?.site, strategy.name, strategy.usesScores, strategy.minutes],
    awaitsTimeLimit(seen),
    ...[failures.length, ...failures, constraints.length, ...constraints],
    ...members.flatMap(({ node, value, problem, version, owner, seat, seatNames = [] }) => {
      return [node, value, problem, version, owner, seat, seatNames.length, ...seatNames];
    }),
  ];
}

/**
 * Returns the successor in the form in which a node reads it from the znode, so that it can be compared with
 * the published successor.
 */
function asStored(successor: Successor): Successor {
  return successorSchema.parse(JSON.parse(encodedText(successor)));
}

/**
 * Whether the elected node is READY in the current term, and the current configuration is readable. A pending
 * decision about the node is among the due actions.
 */
function isReadyInTerm({ snapshot, elected, memory }: Election): boolean {
  if (snapshot.config.value === null) return false;
  return memory.ready !== null && snapshot.current?.value?.term === elected.term;
}

/**
 * Returns the successor. Returns null if the next leader has just joined and has no seat yet. It will soon
 * have a seat, so nothing needs to be published until then.
 */
function successorOf(seen: Election, chooseAmong: ChooseAmong): Successor | null {
  const never = whyNobody(seen);
  if (never !== null) return nobody(never);
  const why = whyUndecided(seen);
  if (why !== null) return undecided(why);
  const members = seen.members.map((member) =>
    member.node === seen.elected.node && member.value !== null
      ? { ...member, value: { ...member.value, draining: true } }
      : member,
  );
  const { found, choice } = chooseAmong(members);
  if (choice.ranking.length === 0) return nobody(noneEligible(choice, seen.elected.node));
  const next = members.find(({ node }) => node === choice.node) ?? null;
  if (!choice.changes || choice.cause !== 'shutdown' || next === null || next.value === null)
    return undecided(choice.reason);
  const { node, version, seatNames = [], value } = next;
  const [seat, ...others] = seatNames;
  if (seat === undefined) return null;
  if (value.prepares === true)
    return undecided(`${node} runs onPrepare before the leader starts its release`);
  return {
    prepared: {
      decision: { ...nextDecision(found, choice), node, site: value.site },
      electedVersion: seen.snapshot.elected.version,
      configVersion: seen.snapshot.config.version,
      nodeVersion: version,
      seats: [seat, ...others],
    },
    nobody: false,
    reason: choice.ranking.find((ranked) => ranked.node === node)?.reason ?? choice.reason,
  };
}

function undecided(reason: string): Successor {
  return { prepared: null, nobody: false, reason };
}

function nobody(reason: string): Successor {
  return { prepared: null, nobody: true, reason };
}

/** Returns why no node can follow, whatever else the choice depends on. Returns null if a node may follow. */
function whyNobody({ config, elected, request, members }: Election): string | null {
  if (members.every(({ node }) => node === elected.node)) return 'no other node is registered';
  if (config.paused === null || request !== null) return null;
  return pausedText(config.paused);
}

function noneEligible({ ineligible }: Choice, leader: string | null): string {
  // The leader is ineligible only because this choice assumes that it is leaving.
  return `no other node is eligible: ${ineligibleText(ineligible.filter(({ node }) => node !== leader))}`;
}

/**
 * Returns why the choice depends on more than the versions that a prepared decision names. Returns null if it
 * does not.
 */
function whyUndecided(seen: Election): string | null {
  const { config, request, strategy, constraints, members } = seen;
  if (request !== null) return 'a switchover is requested';
  if (config.leaders > 1) return 'the group has several leaders';
  const isOwn = members.some(({ value }) => value !== null && Object.hasOwn(value.strategies, strategy.name));
  if (isOwn || strategy.usesScores === true || strategy.minutes !== undefined)
    return `strategy ${strategy.name} ranks the nodes again at each change of leader`;
  if (config.affinity.group !== null) return `the choice depends on the leader of ${config.affinity.group}`;
  const isBuiltIn = constraints.every(
    (constraint) => 'check' in constraint && constraint.minutes === undefined,
  );
  if (!isBuiltIn) return 'a constraint judges the nodes again at each change of leader';
  return awaitsTimeLimit(seen) ? 'the choice may change when a time limit expires' : null;
}

function awaitsTimeLimit({ config, failures, epochMs }: Election): boolean {
  return nextInstantInMs({ config, failures, minutes: [] }, epochMs) !== null;
}
