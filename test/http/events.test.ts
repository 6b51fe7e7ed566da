/** /events reports the group as it changes. One watcher serves many readers. */

import { createConnection, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Listing, listingSchema } from '../../src/group/listing.js';
import { outOfTouchSchema } from '../../src/http/event-hub.js';
import { openAcl, permissions } from '../../src/model/acl.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { Group } from '../support/agent-group.js';
import { type Api, openApi } from '../support/http.js';
import { ledOnRecord, patient } from '../support/led-group.js';
import { until } from '../support/until.js';

let zookeeper: DevelopmentServer;
beforeAll(async () => {
  zookeeper = await startDevelopmentServer(patient);
});
afterAll(() => zookeeper.close());

interface Event {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

class Reader implements Disposable {
  readonly socket: Socket;
  text = '';
  hasEnded = false;

  constructor({ server }: Api) {
    const { hostname, port } = new URL(server.url);
    this.socket = createConnection(Number(port), hostname);
    this.socket.setEncoding('utf8');
    this.socket.on('data', (text: string) => {
      this.text += text;
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.hasEnded = true;
    });
    this.socket.write('GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n');
  }

  get events(): Event[] {
    const found = this.text.matchAll(/^id: (.*)\nevent: (.*)\ndata: (.*)\n\n/gm);
    return [...found].map(([, id = '', event = '', data = '']) => ({ id, event, data: JSON.parse(data) }));
  }

  get pictures(): Listing[] {
    return this.events.filter(({ event }) => event === 'status').map(({ data }) => listingSchema.parse(data));
  }

  async sees(what: (picture: Listing) => boolean): Promise<Listing> {
    return await until(() => this.pictures.find(what), { timeoutMs: 30_000, describe: 'such an event' });
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

describe('a reader of events', () => {
  it('gets the group as it is, and then as it changes', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    using reader = new Reader(api);
    const first = await reader.sees(() => true);
    expect(first).toMatchObject({ leader: { node: 'a', status: 'READY' }, elected: { term: 1 } });
    expect(reader.text).toContain('content-type: text/event-stream');
    expect(reader.text).toContain('cache-control: no-store');
    await group.switchover('b');
    await reader.sees(({ leader }) => leader?.node === 'b' && leader.status === 'READY');
    const ids = reader.events.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(reader.pictures.map(({ elected }) => elected.term)).toEqual(
      reader.pictures.map(({ elected }) => elected.term).toSorted(),
    );
  });

  it('who comes again can see by the id whether anything has happened', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    using stays = new Reader(api);
    await stays.sees(() => true);
    using again = new Reader(api);
    await again.sees(() => true);
    expect(again.events[0]).toEqual(stays.events.at(-1));
    await group.configure({ failback: 'manual', minLeadership: '1s', historySize: 50 });
    await group.switchover('b');
    await stays.sees(({ leader }) => leader?.node === 'b' && leader.status === 'READY');
    using late = new Reader(api);
    await late.sees(() => true);
    expect(late.events[0]?.id).not.toBe(again.events[0]?.id);
  });

  it('is notified when the agent is disconnected, and has a new status when it is back', async () => {
    await using own = await startDevelopmentServer(patient);
    await using group = await Group.found(own.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    using reader = new Reader(api);
    await reader.sees(() => true);
    await own.halt();
    const found = await until(() => reader.events.find(({ event }) => event === 'out-of-touch'));
    expect(outOfTouchSchema.parse(found.data).reason).not.toBe('');
    const before = reader.pictures.length;
    await own.restart();
    await until(() => reader.pictures.length > before, { timeoutMs: 30_000 });
  });

  it('who comes while ZooKeeper is unreachable learns that', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group), { connect: '127.0.0.1:1' });
    using reader = new Reader(api);
    await until(() => reader.events.some(({ event }) => event === 'out-of-touch'), { timeoutMs: 20_000 });
  });

  it('learns that the agent may not read the group, and what to do, where ZooKeeper refuses it', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    const nobody = { permissions: permissions.admin, identity: { scheme: 'world', id: 'anyone' } } as const;
    await group.store.setAcl(group.paths.elected, [nobody], 'any');
    using reader = new Reader(api);
    const found = await until(() => reader.events.find(({ event }) => event === 'refused'));
    const { reason } = outOfTouchSchema.parse(found.data);
    expect(reason).toContain('petrel acl show');
    expect(reason).not.toContain('--');
    expect(reader.events.filter(({ event }) => event === 'out-of-touch')).toEqual([]);
    await group.store.setAcl(group.paths.elected, openAcl, 'any');
    await reader.sees(({ leader }) => leader?.node === 'a');
  });

  it('who does not read is dropped, and the others are served', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    using slow = new Reader(api);
    await slow.sees(() => true);
    slow.socket.pause();
    using quick = new Reader(api);
    let seen = 0;
    await until(
      async () => {
        const by = 'x'.repeat(200_000);
        const at = new Date().toISOString();
        await group.configure({ paused: { by, at, reason: String(++seen) } });
        await quick.sees(({ paused }) => paused?.reason === String(seen));
        quick.text = '';
        return api.server.readers === 1;
      },
      { timeoutMs: 50_000, intervalMs: 1, describe: 'the slow reader to be dropped' },
    );
    expect(quick.hasEnded).toBe(false);
    process.stdout.write(`a reader that does not read was dropped after ${seen} events of 200 kB\n`);
  });

  it.each([
    ['in touch', undefined],
    ['out of touch', '127.0.0.1:1'],
  ])('is disconnected when the agent is stopping, %s, and nothing stays behind', async (_, connect) => {
    await using group = await Group.found(zookeeper.connectString);
    const timers = new Set<symbol>();
    const clock: Clock = {
      ...systemClock,
      timer(delayMs, fire) {
        const timer = Symbol('timer');
        timers.add(timer);
        const cancel = systemClock.timer(delayMs, () => {
          timers.delete(timer);
          fire();
        });
        return () => {
          timers.delete(timer);
          cancel();
        };
      },
    };
    const where = connect === undefined ? {} : { connect };
    await using api = await openApi(group, await ledOnRecord(group), { clock, ...where });
    using reader = new Reader(api);
    await until(() => reader.events.length > 0, { timeoutMs: 20_000 });
    await api.server.close();
    await until(() => reader.hasEnded);
    await until(() => timers.size === 0, { timeoutMs: 4_000, describe: 'every timer to be cancelled' });
  });
});

describe('a thousand readers', () => {
  it('are served by one watcher, and cost nothing when they are gone', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    const requests = () => {
      const traffic = zookeeper.requestCounts();
      return api.stores.map(({ sessionId }) => {
        const { ping: _, ...others } = traffic.get(sessionId)?.requests ?? {};
        return Object.values(others).reduce((sum, count) => sum + count, 0);
      });
    };
    const readers = Array.from({ length: 1_000 }, () => new Reader(api));
    try {
      await until(() => readers.every(({ pictures }) => pictures.length > 0), { timeoutMs: 50_000 });
      expect(api.stores).toHaveLength(1);
      const [before = 0] = requests();
      const beganAtMs = performance.now();
      await group.switchover('b');
      const isDone = (reader: Reader) =>
        reader.text.includes('"leader":{"node":"b","site":"here","status":"READY"');
      await until(() => readers.every(isDone), { timeoutMs: 50_000 });
      const events = readers.map((reader) => reader.events.length);
      const [after = 0] = requests();
      process.stdout.write(
        `1,000 readers saw a switchover in ${Math.round(performance.now() - beganAtMs)} ms: ${Math.max(...events)} events each, ${after - before} requests to ZooKeeper\n`,
      );
      expect(after - before).toBeLessThan(1_000);
      expect(readers.filter(({ hasEnded }) => hasEnded)).toEqual([]);
    } finally {
      for (const reader of readers) reader[Symbol.dispose]();
    }
    await until(() => api.server.readers === 0);
  });

  it('and ten more than are served: the last ones are refused', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    const readers = Array.from({ length: 1_010 }, () => new Reader(api));
    try {
      await until(() => readers.every(({ text }) => text.includes('HTTP/1.1')), { timeoutMs: 50_000 });
      const refused = readers.filter(({ text }) => text.startsWith('HTTP/1.1 503'));
      expect(refused).toHaveLength(10);
      expect(refused[0]?.text).toContain('TOO_MANY_READERS');
    } finally {
      for (const reader of readers) reader[Symbol.dispose]();
    }
  });
});
