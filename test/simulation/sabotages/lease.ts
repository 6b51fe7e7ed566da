/** Sabotages of the lease: how it is counted, renewed, kept and looked at. */
import type { Sabotage } from './sabotage.js';

const lease = 'src/core/lease.ts';
const leadership = 'src/agent/leadership.ts';
const tenureLease = 'src/agent/tenure-lease.ts';

export const leaseSabotages: readonly Sabotage[] = [
  {
    name: 'lease from the newest write',
    rule: 'A committed write proves signs of life of half a tick before it, not its own',
    file: lease,
    find: 'let provenAtMs = Math.max(evidence.provenAtMs, evidence.handshakeSentAtMs);',
    replace: 'let provenAtMs = Math.max(evidence.provenAtMs, evidence.handshakeSentAtMs, sentAtMs);',
  },
  {
    name: 'lease from an answer',
    rule: 'An answer proves nothing of the session: a server that is cut off goes on answering',
    file: lease,
    find: '  return { ...evidence, answered: [...kept, request], touch };',
    replace:
      '  return { ...evidence, provenAtMs: Math.max(evidence.provenAtMs, request.answeredAtMs), answered: [...kept, request], touch };',
  },
  {
    name: 'lease from a read',
    rule: 'Only a committed write proves anything: reads are answered by a server that is cut off',
    file: lease,
    find: '  return { ...evidence, answered: [...kept, request], touch };',
    replace:
      '  return { ...evidence, provenAtMs: Math.max(evidence.provenAtMs, request.sentAtMs), answered: [...kept, request], touch };',
  },
  {
    name: 'lease from what was sent, answered or not',
    rule: 'A sign of life counts when it was answered T/4 before the write: sent may mean held up',
    file: lease,
    find: 'if (entry.answeredAtMs <= limit)',
    replace: 'if (entry.sentAtMs <= limit)',
  },
  {
    name: 'resumed handshake counts at once',
    rule: 'A handshake that takes a session up again counts only once a write is committed on its connection',
    file: lease,
    find: '  return { ...evidence, provenAtMs, answered: [], handshakeSentAtMs: sentAtMs };',
    replace:
      '  return { ...evidence, provenAtMs: Math.max(provenAtMs, sentAtMs), answered: [], handshakeSentAtMs: sentAtMs };',
  },
  {
    name: 'lease by the timeout granted last',
    rule: 'The lease counts by the smallest timeout ever granted to its session',
    file: 'src/zookeeper/session.ts',
    find: '      this.#negotiatedTimeoutMs || Number.POSITIVE_INFINITY,\n',
    replace: '',
  },
  {
    name: 'a server that was not heard has granted as much as before',
    rule: 'A server may have taken the session up with less, and its answer be lost: until a write is committed half counts',
    file: lease,
    find: 'doubtedSinceMs: Math.min(evidence.doubtedSinceMs, sentAtMs)',
    replace: 'doubtedSinceMs: evidence.doubtedSinceMs',
  },
  {
    name: 'lease longer than the session',
    rule: 'The lease is shorter than the session: clock rates differ',
    file: lease,
    find: 'const leaseShare = 0.9;',
    replace: 'const leaseShare = 1.15;',
  },
  {
    name: 'lease renewed too rarely',
    rule: 'The leader renews its lease long before it is due',
    file: lease,
    find: 'const renewShare = 1 / 12;',
    replace: 'const renewShare = 1 / 2;',
  },
  {
    name: 'lease renewed with reads',
    rule: 'The lease is renewed with a committed write',
    file: 'src/agent/renewal.ts',
    find: 'await store.multi(checks);',
    replace: 'await Promise.all(checks.map(({ path }) => store.exists(path)));',
  },
  {
    name: 'connection state instead of the lease',
    rule: 'Connection state proves nothing: the lease alone says until when a node may lead',
    file: tenureLease,
    find: 'const lease = leaseFrom(this.#store.provenAliveAtMs(), this.#store.negotiatedTimeoutMs);',
    replace:
      "const lease = leaseFrom(this.#store.state !== 'LOST' ? this.#clock.monotonicMs() : this.#store.provenAliveAtMs(), this.#store.negotiatedTimeoutMs);",
  },
  {
    name: 'claims with a lease from before a stall',
    rule: 'A claim is made only with a lease that lasts until it can be renewed: one stall is one lost lease',
    file: 'src/agent/claim-gate.ts',
    find: 'if (store.lastsToRenewal()) {',
    replace: 'if (store !== null) {',
  },
  {
    name: 'ended lease revived',
    rule: 'A lease once ended is never revived',
    file: tenureLease,
    find: '    return this.#ended;\n',
    replace: '    return lease;\n',
  },
  {
    name: 'leads without a look at the clock',
    rule: 'The clock is looked at before every step that acts as leader, first thing after a stall',
    file: leadership,
    find: "return this.#store.state !== 'LOST' && this.#options.clock.monotonicMs() < this.lease.releaseAtMs;",
    replace: "return this.#store.state !== 'LOST';",
  },
  {
    name: 'leads while it releases',
    rule: 'Leadership reads false from the release on',
    file: leadership,
    find: "if (this.#tenure?.stage !== 'leading' || this.#tenure.failure !== null || this.#store === null)",
    replace:
      "if ((this.#tenure?.stage !== 'leading' && this.#tenure?.stage !== 'releasing') || this.#store === null)",
  },
  {
    name: 'gives up at every disconnection',
    rule: 'Disconnected is not yet lost: if it reconnects in time nothing happened',
    file: leadership,
    find: "(this.#store !== store || store.state === 'LOST'),",
    replace: "(this.#store !== store || store.state !== 'CONNECTED'),",
  },
  {
    name: 'stays with a silent server',
    rule: 'A server that leaves renewals unanswered is left for another while the lease lasts',
    file: 'src/agent/renewal.ts',
    find: 'if (clock.monotonicMs() - oldestAtMs >= serverPatienceMs(store.negotiatedTimeoutMs)) store.changeServer();',
    replace: '',
  },
  {
    name: 'a hung server counts as connected',
    rule: 'A hung server counts as disconnected: no answer within 2/3 T, and the next one is tried',
    file: 'src/zookeeper/connection.ts',
    find: 'const silenceShare = 2 / 3;',
    replace: 'const silenceShare = 100;',
    also: [
      {
        file: 'src/zookeeper/connection.ts',
        find: 'return this.#oldestSentAtMs() + this.#sessionTimeoutMs;',
        replace: 'return this.#oldestSentAtMs() + 100 * this.#sessionTimeoutMs;',
      },
    ],
  },
];
