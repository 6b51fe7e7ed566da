/** What a trouble that comes alone, in a calm world, must not bring about. */

import type { Fault } from './faults.js';
import type { Cast } from './havoc.js';
import { type ClaimSeen, inSlot, type SlotSeen, slotsIn } from './ledger.js';
import type { Node } from './node.js';
import { reconnectMs, writeMs } from './pace.js';
import type { Setup } from './setup.js';

/** In which a server that stands still is found out, in session timeouts: by who leads, and by others. */
const leaderFindsOut = 1 / 12 + 1 / 6;
const findsOut = 2 / 3;
/**
 * What is left of a lease at least where a leadership is old enough for one, in session timeouts, less two
 * round trips.
 */
const leaseLeft = 0.28;
/**
 * A lease is young where its leadership is: of an idle node nothing but a sign of life now and again is
 * known.
 */
const youngLeadership = 1 / 2;
/** The most by which a clock is too fast. */
const fast = 1.05;

/** Whether something gets lost or delayed by it, so that what else has to happen soon may not. */
export function isDisturbing(fault: Fault): boolean {
  switch (fault.kind) {
    case 'hook':
    case 'unhealthy':
    case 'leave':
    case 'reset':
    case 'upon':
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
 * Call it before the fault happens, and what it returns just after. `victim`: the node that it befalls, if it
 * is one's.
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
  const leaderships = slotsIn(rules.picture()).filter(({ claim }) => {
    const leader = cast.nodes.find(({ session }) => session === claim?.owner);
    return claim !== null && leader !== undefined && leaseLasts(cast, { leader, claim, fault });
  });
  const hasMoved = ({ slot, claim, elected }: SlotSeen) => {
    const now = inSlot(rules.picture(), slot);
    if (now.elected?.version !== elected?.version || claim?.readySinceMs == null) return null;
    if (now.claim?.id === claim.id || judge.wasTaken(claim.id)) return null;
    // It was on its way out already.
    const { node } = claim.content;
    if (elected?.content.node !== node || !stays(node)) return null;
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

/** The least that any server grants: sessions, and so leases, may last no longer. */
function leastTimeoutMs({ sessionTimeoutMs, unlike }: Setup): number {
  return Math.min(sessionTimeoutMs, ...unlike.map((one) => one.maxSessionTimeoutMs ?? sessionTimeoutMs));
}

/**
 * Whether the lease has to be renewed in time over a connection to another server: by how long it lasts yet,
 * or has to last.
 */
function leaseLasts(
  { setup, world }: Cast,
  { leader, claim, fault: { kind } }: { leader: Node; claim: ClaimSeen; fault: Fault },
): boolean {
  const sessionTimeoutMs = leastTimeoutMs(setup);
  const nowMs = leader.process?.clock.monotonicMs() ?? 0;
  const leftMs = (leader.agent?.status.lease.releaseAtMs ?? nowMs) - nowMs;
  const isYoung = world.nowMs - claim.sinceMs < youngLeadership * sessionTimeoutMs;
  const dueMs = leaseLeft * sessionTimeoutMs - 2 * fast * writeMs(setup);
  const findsOutMs = kind === 'freeze server' ? leaderFindsOut * sessionTimeoutMs : 0;
  const neededMs = findsOutMs + fast * (reconnectMs(setup) + writeMs(setup));
  // The next server may grant so little that no lease is renewed in time over this network.
  if (sessionTimeoutMs < setup.sessionTimeoutMs && dueMs <= neededMs) return false;
  return Math.max(leftMs, isYoung ? 0 : dueMs) > neededMs;
}

/**
 * Whether the node has to find another server before the ensemble may end its session, by what its leader
 * knows of that.
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
