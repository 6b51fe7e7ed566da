/** Checks that a single fault in a calm world has no effects that it must not have. */

import type { Fault } from './faults.js';
import type { Cast } from './havoc.js';
import { type ClaimSeen, inSlot, type SlotSeen, slotsIn } from './ledger.js';
import type { Node } from './node.js';
import { reconnectMs, writeMs } from './pace.js';
import type { Setup } from './setup.js';

/**
 * Time until the group's leader notices that its server is frozen. `findsOut` is the time until another node
 * does. Both are in session timeouts.
 */
const leaderFindsOut = 1 / 12 + 1 / 6;
const findsOut = 2 / 3;
/**
 * Minimum remaining lease of a leadership that is old enough, in session timeouts. Two round trips must be
 * subtracted from it.
 */
const leaseLeft = 0.28;
/**
 * Age below which a leadership may have a short lease, because an idle node sends heartbeats only
 * periodically. In session timeouts.
 */
const youngLeadership = 1 / 2;
/** Number of resets of each node's connection. */
const resets = new WeakMap<Node, number>();
/** Maximum rate of a clock that is too fast, relative to true time. */
const fast = 1.05;

/** Whether the fault loses or delays something. Other events may then miss their deadlines. */
export function isDisturbing(fault: Fault): boolean {
  switch (fault.kind) {
    case 'hook':
    case 'unhealthy':
    case 'leave':
    case 'new credentials':
    case 'reset':
    case 'upon':
      return false;
    case 'back up':
      return false;
    case 'people':
      return ['evict', 'evict dead', 'misconfigure'].includes(fault.act.do);
    case 'delete claim':
    case 'delete decision':
    case 'spoil decision':
      return false;
    default:
      return true;
  }
}

/**
 * Prepares the checks for a fault. Must be called before the fault happens. The returned function must be
 * called right after it. `victim` is the affected node, if there is one.
 */
export function watchOver(cast: Cast, fault: Fault, victim: Node | null): () => void {
  const { rules, setup, judge } = cast;
  const { registrations } = rules.picture();
  const { sessionTimeoutMs, servers } = setup;
  const lives = new Map(cast.nodes.map((node) => [node.name, node.process]));
  const stays = (name: string) =>
    cast.nodes.some(
      (node) => node.name === name && node.process === lives.get(name) && node.isUp && node.leaves === 0,
    );
  if (fault.kind === 'reset' && victim !== null) resets.set(victim, (resets.get(victim) ?? 0) + 1);
  const resetsBefore = new Map(cast.nodes.map((node) => [node, resets.get(node)]));
  const leaderships = slotsIn(rules.picture()).filter(({ claim }) => {
    const leader = cast.nodes.find(({ session }) => session === claim?.owner);
    return claim !== null && leader !== undefined && leaseLasts(cast, { leader, claim, fault });
  });
  const hasMoved = ({ slot, claim, elected }: SlotSeen) => {
    const now = inSlot(rules.picture(), slot);
    if (now.elected?.version !== elected?.version || claim?.readySinceMs == null) return null;
    if (now.claim?.id === claim.id || judge.wasTaken(claim.id)) return null;
    // The leader was already about to release its claim before the fault.
    const { node } = claim.content;
    if (elected?.content.node !== node || !stays(node)) return null;
    // After another reset, the lease may end before it can be renewed. That reset has its own checks.
    if (cast.nodes.some((one) => one.name === node && resets.get(one) !== resetsBefore.get(one))) return null;
    return `${node} has lost its claim over nothing but: ${fault.kind}`;
  };
  const leadershipMoved = () => leaderships.map(hasMoved).find((moved) => moved !== null) ?? null;
  const lasting = new Set(cast.nodes.filter((node) => sessionLasts(cast, node)).map(({ name }) => name));
  const sessionLost = () => {
    const now = rules.picture().registrations;
    for (const [node, { owner }] of registrations) {
      if (lasting.has(node) && stays(node) && now.get(node)?.owner !== owner)
        return `${node} has lost its session over nothing but: ${fault.kind}`;
    }
    return null;
  };
  if (fault.kind === 'reset') return () => rules.after(sessionTimeoutMs / 2, 9, leadershipMoved);
  if (fault.kind === 'second machine') {
    const process = victim?.process;
    if (victim === null || process?.isRunning !== true || !registrations.has(victim.name)) return () => {};
    return () => {
      const newcomer = cast.nodes.at(-1);
      rules.unlessDisturbed(rules.promptMs, 9, () =>
        newcomer?.isUp === true && process.isRunning && cast.nodes.includes(newcomer)
          ? `${newcomer.machine.name} goes on under the name of another machine`
          : null,
      );
    };
  }
  const isServer = fault.kind === 'freeze server' || fault.kind === 'kill server';
  if (!isServer || servers < 3) return () => {};
  if (cast.ensemble.servers[fault.server]?.isLeading !== false) return () => {};
  const wrong = () => leadershipMoved() ?? sessionLost();
  return () => rules.after(1.6 * sessionTimeoutMs, 9, wrong);
}

/**
 * Returns the shortest timeout that any server grants. Sessions and leases must not last longer than that.
 */
function leastTimeoutMs({ sessionTimeoutMs, unlike }: Setup): number {
  return Math.min(sessionTimeoutMs, ...unlike.map((one) => one.maxSessionTimeoutMs ?? sessionTimeoutMs));
}

/**
 * Whether the lease must last until the leader can renew it over a connection to another server. Depends on
 * the remaining time of the lease, and on the minimum that must remain.
 */
function leaseLasts(
  { setup, world }: Cast,
  { leader, claim, fault: { kind } }: { leader: Node; claim: ClaimSeen; fault: Fault },
): boolean {
  const sessionTimeoutMs = leastTimeoutMs(setup);
  const nowMs = leader.process?.clock.monotonicMs() ?? 0;
  const leftMs = (leader.agent?.status.lease?.releaseAtMs ?? nowMs) - nowMs;
  const isYoung = world.nowMs - claim.sinceMs < youngLeadership * sessionTimeoutMs;
  const dueMs = leaseLeft * sessionTimeoutMs - 2 * fast * writeMs(setup);
  const findsOutMs = kind === 'freeze server' ? leaderFindsOut * sessionTimeoutMs : 0;
  const neededMs = findsOutMs + fast * (reconnectMs(setup) + writeMs(setup));
  // The next server may grant a session so short that its lease cannot be renewed in time on this network.
  if (sessionTimeoutMs < setup.sessionTimeoutMs && dueMs <= neededMs) return false;
  return Math.max(leftMs, isYoung ? 0 : dueMs) > neededMs;
}

/**
 * Whether the session lasts until the node has found another server. Depends on what the ensemble's leader
 * knows of the session.
 */
function sessionLasts({ ensemble, setup, world }: Cast, { machine, session }: Node): boolean {
  const silence = ensemble.servers.find(({ isLeading }) => isLeading)?.silenceOf(session);
  if (silence === undefined) return false;
  const { delays } = setup;
  const sessionTimeoutMs = leastTimeoutMs(setup);
  const mayEndMs = silence.sinceMs + sessionTimeoutMs / silence.rate;
  const foundOutMs = world.nowMs + delays.mostMs + (findsOut * sessionTimeoutMs) / machine.clock.rate;
  return mayEndMs > foundOutMs + reconnectMs(setup);
}
