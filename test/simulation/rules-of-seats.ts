/** Rules about seats and registrations. */
import { inSlot, type SeatSeen, slotsIn } from './ledger.js';
import type { Rule, RuleContext, Step } from './rules.js';

/** Time for which an elector may be silent, in addition to the session timeouts. */
const electorWatchdogMs = 10_000;

export function seatRules(context: RuleContext): Rule {
  const { setup, violate, promptMs } = context;

  function noneTwice({ is }: Step): void {
    const owners = is.seats.map(({ owner }) => owner);
    if (new Set(owners).size === owners.length) return;
    violate(9, `a session holds two seats: ${is.seats.map(({ name }) => name).join(', ')}`);
  }

  /**
   * Checks when a session deletes another node's seat. It must also delete the fenced claim of that node, or
   * the seat must be that of an elector that has been silent for long enough.
   */
  function takenByOthers({ was, is, write, isByHand, nowMs }: Step): void {
    if (write === null || isByHand) return;
    for (const seat of was.seats) {
      if (seat.owner === write.session || is.seats.some(({ name }) => name === seat.name)) continue;
      const isFenced = slotsIn(was).some(
        ({ slot, claim }) => claim?.owner === seat.owner && inSlot(is, slot).claim === null,
      );
      if (!isFenced) unseated(seat, was.seats.indexOf(seat), nowMs);
      if (!isFenced && was.seats[1]?.owner !== write.session)
        violate(9, `${seat.name} is unseated by another than the next elector`);
    }
  }

  function unseated(seat: SeatSeen, place: number, nowMs: number): void {
    const owner = context.nodes.find(({ session }) => session === seat.owner);
    if (place !== 0) violate(9, `${seat.name} is taken away, and it is not the elector's`);
    else if (owner?.isMute !== true) violate(9, `the elector ${seat.name} is unseated, which does its work`);
    else if (nowMs - owner.muteSinceMs < (2 * setup.sessionTimeoutMs + electorWatchdogMs) * 0.9) {
      violate(9, `the elector ${seat.name} is unseated without having been silent for long`);
    }
  }

  /**
   * Checks that a registration ends only with its session, or by hand, or because the same incarnation
   * replaces it.
   */
  function registrationsTaken({ was, is, write, isByHand }: Step): void {
    if (write === null || isByHand) return;
    for (const [node, { owner, content, id }] of was.registrations) {
      const now = is.registrations.get(node);
      if (owner === write.session || now?.id === id) continue;
      if (now?.content.incarnation !== content.incarnation)
        violate(9, `the registration of ${node} is taken away from ${content.incarnation}`);
    }
  }

  /** Checks that a running node gets a new seat soon after its seat was deleted by hand. */
  function takenByHand({ was, is, isByHand }: Step): void {
    if (!isByHand || !context.wasCalm) return;
    for (const { name, owner } of was.seats) {
      if (is.seats.some((seat) => seat.name === name)) continue;
      const node = context.nodes.find(({ session }) => session === owner);
      context.unlessDisturbed(2 * promptMs, 9, () => {
        const isHere = node?.session === owner && node.process?.isRunning === true && node.leaves === 0;
        const isSeated = context.picture().seats.some((seat) => seat.owner === owner);
        return isHere && !isSeated ? `${node?.name} has lost its seat, and takes no new one` : null;
      });
    }
  }

  return (step) => {
    takenByHand(step);
    noneTwice(step);
    takenByOthers(step);
    registrationsTaken(step);
  };
}
