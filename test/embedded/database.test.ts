/**
 * Tests the state machine's own guarantees, in addition to those that the contract tests check for any
 * ZooKeeper.
 */
import { describe, expect, it } from 'vitest';
import { type Client, Database } from '../../src/embedded/database.js';
import { formatSequence } from '../../src/embedded/paths.js';
import { SessionTable } from '../../src/embedded/sessions.js';
import { createFlags, type Operation, type SequenceOverflow, ZnodeTree } from '../../src/embedded/tree.js';
import { openAcl } from '../../src/model/acl.js';

const limits = { tickTimeMs: 1000, minTimeoutMs: 2000, maxTimeoutMs: 20_000 };
const nobody = { sessionId: 1n, identities: [] };

function create(path: string, flags: number = createFlags.persistent): Operation {
  return { type: 'create', path, data: Buffer.from('x'), acl: openAcl, flags };
}

describe('the database', () => {
  function play(): unknown[] {
    const database = new Database({ ...limits, secret: 'secret', startedAtMs: 5000, startZxid: 7n << 32n });
    const session = database.openSession(4000, 5000);
    const client: Client = { sessionId: session.id, watcher: 1, identities: [] };
    return [
      session,
      database.transact([create('/a'), create('/a/n-', createFlags.sequential)], client, 5100),
      database.getChildren('/a', client, true),
      database.transact([create('/a/n-', createFlags.sequential + createFlags.ephemeral)], client, 5200),
      database.overdueSessions(9000),
      database.endSession(session.id, 10_000),
      database.counts,
    ];
  }

  it('gives the same for the same calls, and takes every instant from its caller', () => {
    expect(play()).toEqual(play());
    const [, transaction] = play();
    expect(transaction).toMatchObject({
      outcome: { ok: true, results: [{ stat: { czxid: (7n << 32n) + 2n, ctimeMs: 5100 } }, {}] },
    });
  });

  it('refuses whatever is asked in a session that is over', () => {
    const database = new Database({ ...limits, secret: 'secret', startedAtMs: 0 });
    const { id } = database.openSession(4000, 0);
    const client: Client = { sessionId: id, watcher: 1, identities: [] };
    database.endSession(id, 1);
    const { lastZxid } = database;
    expect(() => database.transact([create('/a')], client, 2)).toThrow('SESSION_EXPIRED');
    expect(() => database.exists('/', client, true)).toThrow('SESSION_EXPIRED');
    expect(database.lastZxid).toBe(lastZxid);
  });
});

describe('sequences', () => {
  it('are formatted as Java does', () => {
    expect([0, 7, 2_147_483_647, -2_147_483_648, -1].map(formatSequence)).toEqual([
      '0000000000',
      '0000000007',
      '2147483647',
      '-2147483648',
      '-000000001',
    ]);
  });

  function acrossTheEnd(sequenceOverflow: SequenceOverflow): {
    names: string[];
    cversion: number | undefined;
  } {
    const tree = new ZnodeTree({ sequenceOverflow });
    tree.apply([create('/p')], nobody, 0);
    tree.setNextSequence('/p', 2_147_483_645);
    const names = ['a', 'b', 'c', 'd', 'e'].map((name) => {
      const outcome = tree.apply([create(`/p/${name}`, createFlags.sequential)], nobody, 0);
      return outcome.ok ? (outcome.results[0]?.path ?? '') : outcome.error;
    });
    return { names, cversion: tree.stat('/p')?.cversion };
  }

  it('wrap to negative numbers', () => {
    expect(acrossTheEnd('wraps')).toEqual({
      names: ['/p/a2147483645', '/p/b2147483646', '/p/c2147483647', '/p/d-2147483648', '/p/e-2147483647'],
      cversion: -1,
    });
  });

  it('stick at the greatest number', () => {
    expect(acrossTheEnd('sticks')).toEqual({
      names: ['/p/a2147483645', '/p/b2147483646', '/p/c2147483647', '/p/d2147483647', '/p/e2147483647'],
      cversion: -7,
    });
  });
});

describe('sessions', () => {
  it('expire no earlier than their timeout after the last sign of life, and at most a tick later', () => {
    for (let silentSinceMs = 0; silentSinceMs < 3000; silentSinceMs += 77) {
      const sessions = new SessionTable({ ...limits, secret: 'secret', startedAtMs: 0 });
      const { id, timeoutMs } = sessions.open(3210, 0);
      sessions.touch(id, silentSinceMs);
      expect(sessions.overdue(silentSinceMs + timeoutMs)).toEqual([]);
      expect(sessions.overdue(silentSinceMs + timeoutMs + limits.tickTimeMs)).toEqual([id]);
    }
  });

  it("have ids that look like a ZooKeeper server's, greater at each start", () => {
    const at = (startedAtMs: number) =>
      new SessionTable({ ...limits, secret: '', startedAtMs }).open(0, startedAtMs).id;
    const now = Date.UTC(2026, 6);
    expect(at(now) >> 56n).toBe(1n);
    expect(at(now + 1)).toBeGreaterThan(at(now));
  });

  it('are resumed only with their own password', () => {
    const sessions = new SessionTable({ ...limits, secret: 'secret', startedAtMs: 0 });
    const [first, second] = [sessions.open(4000, 0), sessions.open(4000, 0)];
    expect(sessions.resume(first.id, second.password, 4000, 1)).toBeUndefined();
    expect(sessions.resume(first.id, first.password.subarray(1), 4000, 1)).toBeUndefined();
    expect(sessions.resume(first.id, first.password, 9000, 1)?.timeoutMs).toBe(9000);
    sessions.end(first.id);
    expect(sessions.resume(first.id, first.password, 4000, 1)).toBeUndefined();
  });
});
