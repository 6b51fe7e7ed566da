/** Turns what an agent has read into the snapshot that the core gets. */
import type { GroupSnapshot, Member } from '../../src/model/snapshot.js';
import type { Agent, Operation, Part, Purpose, Request, Round, Tree } from './world.js';

export const asleep: Round = { at: 'asleep' };

export function requestFor(purpose: Purpose, ...operations: Operation[]): Request {
  return { purpose, operations };
}

export function lookAgain(agent: Agent): Agent {
  return { ...agent, round: asleep, awake: true };
}

export function snapshotOf(agent: Agent, view: Tree): GroupSnapshot {
  const { config, elected, current, members, seats, history, successor } = view;
  if (config === null || elected === null) throw new Error('a look at a tree that is not there');
  const place = seats.findIndex(({ id }) => id === agent.seat);
  const below = seats[place - 1] ?? null;
  const own = members.find(({ node }) => node === agent.node) ?? null;
  const seat =
    place === -1
      ? null
      : { name: String(agent.seat), version: 0, below: below && String(below.id), second: place === 1 };
  return {
    config,
    elected,
    current: agent.part === 0 ? null : current,
    self: own,
    seat,
    members: agent.part === 2 ? membersOf(view) : null,
    history,
    successor: agent.part === 0 ? undefined : successor,
  };
}

/** Returns every registered member with its seat's position. */
export function membersOf({ members, seats }: Tree): Member[] {
  const places = new Map(seats.map((seat, place) => [seat.node, place]));
  return members.map((member) => ({
    ...member,
    seat: places.get(member.node) ?? null,
    seatNames: seats.filter(({ node }) => node === member.node).map(({ id }) => String(id)),
  }));
}

/** Whether the agent is the published successor. */
export function isNext({ node }: Agent, { successor }: Tree): boolean {
  return successor?.value?.prepared?.decision.node === node;
}

/** Returns how much a node reads, given what it has seen. */
export function partFor(agent: Agent, view: Tree): Part {
  if (view.seats[0]?.id === agent.seat) return 2;
  if (isNext(agent, view)) return 1;
  const isNamed = view.elected?.value?.node === agent.node;
  const owns = agent.part > 0 && view.current?.owner === agent.session;
  return isNamed || owns || agent.leadership !== null ? 1 : 0;
}
