/** Sabotages of the lease: how it is computed, renewed, stored and checked. */
import type { Sabotage } from './sabotage.js';

export const leaseSabotages: readonly Sabotage[] = [
  {
    name: 'lease from the newest write',
    rule: 'A committed write proves signs of life of half a tick before it, not its own',
    in: 'writeCommitted',
    find: 'handshakeSentAtMs',
    replace: 'handshakeSentAtMs, sentAtMs',
  },
  {
    name: 'lease from an answer',
    rule: 'An answer proves nothing of the session: a server that is cut off goes on answering',
    in: 'requestAnswered',
    find: 'answered: [...kept, request]',
    replace: 'provenAtMs: Math.max(evidence.provenAtMs, request.answeredAtMs), answered: [...kept, request]',
  },
  {
    name: 'lease from a read',
    rule: 'Only a committed write proves anything: reads are answered by a server that is cut off',
    in: 'requestAnswered',
    find: 'answered: [...kept, request]',
    replace: 'provenAtMs: Math.max(evidence.provenAtMs, request.sentAtMs), answered: [...kept, request]',
  },
  {
    name: 'lease from what was sent, answered or not',
    rule: 'A sign of life counts when it was answered T/4 before the write: sent may mean held up',
    in: 'writeCommitted',
    find: 'entry.answeredAtMs',
    replace: 'entry.sentAtMs',
  },
  {
    name: 'resumed handshake counts at once',
    rule: 'A handshake that takes a session up again counts only once a write is committed on its connection',
    in: 'sessionResumed',
    find: '{ ...evidence, provenAtMs, answered: [], handshakeSentAtMs: sentAtMs }',
    replace:
      '{ ...evidence, provenAtMs: Math.max(provenAtMs, sentAtMs), answered: [], handshakeSentAtMs: sentAtMs }',
    // Otherwise, the doubt about the timeout shortens the lease until a write is committed.
    also: [
      {
        in: 'resumptionSent',
        find: 'Math.min(evidence.doubtedSinceMs, sentAtMs)',
        replace: 'evidence.doubtedSinceMs',
      },
    ],
  },
  {
    name: 'lease by the timeout granted last',
    rule: 'The lease counts by the smallest timeout ever granted to its session',
    in: 'Session#handshakeAnswered',
    find: 'this.#negotiatedTimeoutMs || Number.POSITIVE_INFINITY,',
    replace: '',
  },
  {
    name: 'a server that was not heard has granted as much as before',
    rule: 'A server may have taken the session up with less, and its answer be lost: until a write is committed half counts',
    in: 'resumptionSent',
    find: 'Math.min(evidence.doubtedSinceMs, sentAtMs)',
    replace: 'evidence.doubtedSinceMs',
  },
  {
    name: 'lease longer than the session',
    rule: 'The lease is shorter than the session: clock rates differ',
    in: 'leaseShare',
    find: 'leaseShare = 0.9',
    replace: 'leaseShare = 1.15',
  },
  {
    name: 'lease renewed too rarely',
    rule: 'The leader renews its lease long before it is due',
    in: 'renewShare',
    find: 'renewShare = 1 / 12',
    replace: 'renewShare = 1 / 2',
  },
  {
    name: 'lease renewed with reads',
    rule: 'The lease is renewed with a committed write',
    in: 'Renewal#renew',
    find: 'store.multi(checks)',
    replace: 'Promise.all(checks.map(({ path }) => store.exists(path)))',
  },
  {
    name: 'connection state instead of the lease',
    rule: 'Connection state proves nothing: the lease alone says until when a node may lead',
    in: 'RenewedLease#inForce',
    find: 'provenAliveAtMs',
    replace: `state !== 'LOST' ? this.#clock.monotonicMs() : this.#store.provenAliveAtMs`,
  },
  {
    name: 'claims with a lease from before a stall',
    rule: 'A claim is made only with a lease that lasts until it can be renewed: one stall is one lost lease',
    in: 'ClaimGate#isClosed',
    find: 'store.lastsToRenewal()',
    replace: 'store !== null',
  },
  {
    name: 'ended lease revived',
    rule: 'A lease once ended is never revived',
    in: 'RenewedLease#inForce',
    find: 'return this.#ended;',
    replace: 'return lease;',
  },
  {
    name: 'leads without a look at the clock',
    rule: 'The clock is looked at before every step that acts as leader, first thing after a stall',
    in: 'LeadershipRunner#leads',
    find: `this.#store.state !== 'LOST' && this.#options.clock.monotonicMs() < this.lease.releaseAtMs`,
    replace: `this.#store.state !== 'LOST'`,
  },
  {
    name: 'leads while it releases',
    rule: 'Leadership reads false from the release on',
    in: 'LeadershipRunner#leads',
    find: `this.#leadership?.stage !== 'leading' || this.#leadership.failure !== null`,
    replace: `(this.#leadership?.stage !== 'leading' && this.#leadership?.stage !== 'releasing')`,
  },
  {
    name: 'gives up at every disconnection',
    rule: 'Disconnected is not yet lost: if it reconnects in time nothing happened',
    in: 'LeadershipRunner#input',
    find: `store.state === 'LOST'`,
    replace: `store.state !== 'CONNECTED'`,
  },
  {
    name: 'stays with a silent server',
    rule: 'A server that leaves renewals unanswered is left for another while the lease lasts',
    in: 'Renewal#leaveSilentServer',
    find: 'if (clock.monotonicMs() - oldestAtMs >= serverPatienceMs(store.negotiatedTimeoutMs)) store.changeServer();',
    replace: '',
  },
  {
    name: 'a hung server counts as connected',
    rule: 'A hung server counts as disconnected: no answer within 2/3 T, and the next one is tried',
    in: 'silenceShare',
    find: 'silenceShare = 2 / 3',
    replace: 'silenceShare = 100',
    also: [
      {
        in: 'Connection#overdueAtMs',
        find: 'this.#sessionTimeoutMs',
        replace: '100 * this.#sessionTimeoutMs',
      },
    ],
  },
];
