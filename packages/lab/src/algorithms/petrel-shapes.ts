/** What Petrel's simulated nodes write, and how large that is. */
import { type ElectorAction, type Member, type Registration, toInstant } from 'petrel/internals';
import type { Context } from '../algorithm.js';
import { plainSize } from '../network.js';
import { epochMs, type Message, type Operation, type Tree } from './petrel-tree.js';

export const site = 'lab';

export function nameOf(id: number): string {
  return `n${String(id).padStart(5, '0')}`;
}

export function idOf(name: string): number {
  return Number(name.slice(1));
}

export function registrationOf({ id, life }: Context<Message>): Registration {
  return {
    node: nameOf(id),
    site,
    priority: 100,
    host: nameOf(id),
    pid: 1,
    incarnation: `life ${life}`,
    startedAt: toInstant(epochMs),
    version: '0',
    tags: {},
    strategies: {},
    health: { ok: true, reason: null },
    probe: null,
    draining: false,
    claimedUnder: null,
    lastFailure: null,
    lastTakeover: null,
    lastRelease: null,
    gaveUp: null,
  };
}

/** What an elector's action writes; null: nothing. */
export function electorOperations(action: ElectorAction): Operation[] | null {
  if (action.do === 'record') {
    const { term, fencingToken } = action.record;
    return [{ set: 'history', value: { term, fencingToken }, version: action.headVersion }];
  }
  if (action.do !== 'write-elected') return null;
  const { elected, configVersion, electedVersion, record, headVersion } = action;
  const head = record === null ? null : { term: record.term, fencingToken: record.fencingToken };
  return [
    { check: 'config', version: configVersion },
    { set: 'elected', value: elected, version: electedVersion },
    ...(head === null || headVersion === null
      ? []
      : [{ set: 'history', value: head, version: headVersion } as const]),
  ];
}

/** Everyone registered, with their seats' places. */
export function membersOf({ members, seats }: Tree): Member[] {
  const places = new Map(seats.map(({ node }, place) => [node, place]));
  return members.map((member) => ({ ...member, seat: places.get(member.node) ?? null }));
}

/** As JSON they are about so long. */
const znodeBytes = 450;

export function sizeOf(message: Message): number {
  switch (message.kind) {
    case 'view':
      return znodeBytes * (message.part === 'elector' ? 4 + message.tree.members.length : 3);
    case 'join':
      return znodeBytes;
    case 'write':
      return message.operations.reduce(
        (sum, operation) => sum + ('check' in operation ? plainSize(operation) : znodeBytes),
        0,
      );
    default:
      return 8;
  }
}
