/**
 * The successor: the node that follows if the leader leaves. The elector makes this decision in advance and
 * publishes it, so that a leader which leaves can put the decision into force itself, in the same transaction
 * that deletes its claim.
 *
 * The decision is the one that the elector would make now if the leader said that it is leaving. It names
 * every version that it rests on. Wherever it could depend on anything else, for example on the time, no
 * successor is published, and a departing leader waits for the elector.
 *
 * Not promised: that the successor is the best node. A better node that registers shortly before the leader
 * leaves may come too late for the published decision.
 */
import { encodedText } from '../model/names.js';
import { type Successor, successorSchema } from '../model/znodes.js';
import { type Choice, elect } from './choice.js';
import { judgeAll } from './constraint.js';
import { nextDeadlineInMs } from './deadlines.js';
import { type ElectorAction, nextDecision, type PublishSuccessor } from './decision.js';
import { isFallback } from './effective-decision.js';
import { choiceInputOf, type JudgedElection } from './election-input.js';
import type { KnownSuccessor } from './elector-memory.js';
import { activeRequest } from './requests.js';

/** The action that publishes a successor, if there is one to publish, and what was found. */
interface Published {
  readonly publish: PublishSuccessor | null;
  readonly known: KnownSuccessor | null;
}

/**
 * Returns the action that publishes the successor. Returns no action if the published one is still right, if
 * no node leads undisturbed, or if `due` actions are about to change what a successor rests on. Looks for a
 * successor only if something that it rests on has changed.
 */
export function publishSuccessor(
  seen: JudgedElection,
  choice: Choice,
  due: readonly ElectorAction[],
): Published {
  const { snapshot, memory } = seen;
  const { successor: published, elected, config } = snapshot;
  const isQuiet = due.every(({ do: verb }) => verb === 'record');
  if (published === undefined || !isQuiet || !isUndisturbed(seen, choice))
    return { publish: null, known: memory.successor };
  const known = knownSuccessor(seen);
  const { found } = known;
  const isPublished = published !== null && JSON.stringify(published.value) === JSON.stringify(found);
  if (found === null || isPublished) return { publish: null, known };
  const versions = { electedVersion: elected.version, configVersion: config.version };
  const version = published?.version ?? null;
  return { publish: { do: 'publish-successor', successor: found, version, ...versions }, known };
}

function knownSuccessor(seen: JudgedElection): KnownSuccessor {
  const before = seen.memory.successor;
  const restsOn = restsOnIn(seen);
  if (before !== null && isSame(before.restsOn, restsOn)) return before;
  const found = successorOf(seen);
  return { restsOn, found: found === null ? null : asStored(found) };
}

function isSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.length === now.length && before.every((value, index) => value === now[index]);
}

/**
 * Returns everything that the successor rests on, as values that are compared by identity. Every value is
 * immutable. An equal copy costs one more search, but a change is never missed. Time counts only as far as a
 * time limit lies ahead: if none does, it changes nothing but the failures that are remembered.
 */
function restsOnIn(seen: JudgedElection): unknown[] {
  const { self, snapshot, config, strategy, constraints, members, previous, context, elsewhere } = seen;
  return [
    ...[self, elsewhere, config, snapshot.config.version, snapshot.elected.value, snapshot.elected.version],
    ...[previous?.node, previous?.site, strategy.name, strategy.usesScores, strategy.minutes],
    awaitsTimeLimit(seen),
    ...[context.failures.length, ...context.failures, constraints.length, ...constraints],
    ...members.flatMap(({ node, value, problem, version, owner, seat, seatNames = [] }) => {
      return [node, value, problem, version, owner, seat, seatNames.length, ...seatNames];
    }),
  ];
}

/** Returns the successor as a node reads it after it was written, so that the two can be compared. */
function asStored(successor: Successor): Successor {
  return successorSchema.parse(JSON.parse(encodedText(successor)));
}

/** Whether the elected node is READY in the current term, and nothing about it is waiting for a decision. */
function isUndisturbed({ snapshot, elected, memory, failed }: JudgedElection, { changes }: Choice): boolean {
  if (changes || failed !== null || isFallback(snapshot, elected) || snapshot.config.value === null)
    return false;
  const isReady = memory.ready !== null && snapshot.current?.value?.term === elected.term;
  return isReady && memory.watched === null && memory.progress === null;
}

/**
 * Returns the successor. Returns null if the next node has just joined and has no seat yet: it will have one
 * in a moment, and another publication would be in vain.
 */
function successorOf(seen: JudgedElection): Successor | null {
  const why = whyUndecided(seen);
  if (why !== null) return nobody(why);
  const members = seen.members.map((member) =>
    member.node === seen.elected.node && member.value !== null
      ? { ...member, value: { ...member.value, draining: true } }
      : member,
  );
  const leaving = { ...seen, members, judged: judgeAll(members, seen.constraints, seen.context) };
  const choice = elect(choiceInputOf(leaving));
  const next = members.find(({ node }) => node === choice.node) ?? null;
  if (!choice.changes || choice.cause !== 'shutdown' || next === null || next.value === null)
    return nobody(choice.reason);
  const { node, version, seatNames = [], value } = next;
  const [seat, ...others] = seatNames;
  if (seat === undefined) return null;
  if (value.prepares === true) return nobody(`${node} runs onPrepare before the leader releases`);
  return {
    prepared: {
      decision: { ...nextDecision(leaving, choice), node, site: value.site },
      electedVersion: seen.snapshot.elected.version,
      configVersion: seen.snapshot.config.version,
      nodeVersion: version,
      seats: [seat, ...others],
    },
    reason: choice.ranking.find((ranked) => ranked.node === node)?.reason ?? choice.reason,
  };
}

function nobody(reason: string): Successor {
  return { prepared: null, reason };
}

/** Returns why the choice depends on more than the versions that a prepared decision names. Null if not. */
function whyUndecided(seen: JudgedElection): string | null {
  const { config, elected, strategy, constraints, members } = seen;
  if (config.paused !== null) return `paused by ${config.paused.by}: ${config.paused.reason}`;
  if (activeRequest(config, elected) !== null) return 'a switchover is requested';
  if (config.leaders > 1) return 'the group has several leaders';
  const isOwn = members.some(({ value }) => value !== null && Object.hasOwn(value.strategies, strategy.name));
  if (isOwn || strategy.usesScores === true || strategy.minutes !== undefined)
    return `strategy ${strategy.name} ranks the nodes again at each change of leader`;
  if (config.affinity.group !== null) return `the choice depends on the leader of ${config.affinity.group}`;
  const isBuiltIn = constraints.every(
    (constraint) => 'check' in constraint && constraint.minutes === undefined,
  );
  if (!isBuiltIn) return 'a constraint judges the nodes again at each change of leader';
  return awaitsTimeLimit(seen) ? 'a time limit lies ahead, which may change the choice' : null;
}

function awaitsTimeLimit({ config, context, epochMs }: JudgedElection): boolean {
  return nextDeadlineInMs(config, context.failures, epochMs) !== null;
}
