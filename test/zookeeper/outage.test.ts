/**
 * Tests that the log reports an outage of ZooKeeper at its start, while it lasts, and at its end (fault T1 in
 * docs/reports/faults.md).
 */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';
import { Outage } from '../../src/zookeeper/outage.js';
import { until } from '../support/until.js';
import { FakeServer, type Script } from './fake-server.js';
import { connectedProbe, type Probe, probe } from './probe.js';

const granting: Script = { handshake: (talk) => talk.grant({ timeoutMs: 2000 }) };

const saidBy = ({ logged }: Probe, level: string) =>
  logged.filter((entry) => entry.level === level).map(({ message }) => message);

describe('T1 a ZooKeeper that cannot be reached', () => {
  it('T1 from the start is reported with every server and what came of it', async () => {
    const servers = '127.0.0.1:1,no-such-host:2181';
    await using ours = probe(servers, {
      lookup: (host, _options, callback) => {
        if (host === 'no-such-host') callback(new Error('getaddrinfo ENOTFOUND no-such-host'), []);
        else callback(null, [{ address: host, family: 4 }]);
      },
    });
    const said = await until(() => saidBy(ours, 'warn')[0]);
    expect(said).toMatch(/^ZooKeeper has been unreachable for \d+\.\d s, retrying: /);
    expect(said).toContain('127.0.0.1 port 1: connect ECONNREFUSED');
    expect(said).toContain('no-such-host:2181: getaddrinfo ENOTFOUND no-such-host');
  });

  it('T1 and is then reached: that is reported, once', async () => {
    let isMute = true;
    await using fake = await FakeServer.start({
      handshake: (talk) => (isMute ? talk.destroy() : talk.grant({ timeoutMs: 2000 })),
    });
    await using ours = probe(fake.address);
    await until(() => saidBy(ours, 'warn').length > 0);
    isMute = false;
    await ours.store.connected();
    expect(
      saidBy(ours, 'info').filter((said) => said.startsWith('ZooKeeper is reachable again')),
    ).toHaveLength(1);
  });

  it('T1 after it was lost is reported again', async () => {
    const fake = await FakeServer.start(granting);
    await using ours = await connectedProbe(fake.address);
    await fake[Symbol.asyncDispose]();
    await until(() => saidBy(ours, 'warn').some((said) => said.startsWith('ZooKeeper has been unreachable')));
  });
});

it('T1 while it lasts it is reported at growing intervals, at least every 5 minutes', () => {
  let nowMs = 0;
  const said: string[] = [];
  const log = {
    info: (_: object, text: string) => said.push(`${nowMs / 1000}: ${text}`),
    warn: (_: object, text: string) => said.push(`${nowMs / 1000}: ${text}`),
  };
  const outage = new Outage({ ...systemClock, monotonicMs: () => nowMs }, log);
  for (; nowMs <= 1_000_000; nowMs += 500) outage.goesOn('zk:1: refused');
  expect(said.map((text) => Number(text.split(':')[0]))).toEqual([0, 10, 30, 70, 150, 310, 610, 910]);
  nowMs = 1_000_000;
  outage.entered('CONNECTED');
  expect(said.at(-1)).toBe('1000: ZooKeeper is reachable again after 1000.0 s');
  outage.entered('SUSPENDED');
  nowMs += 2_000;
  outage.goesOn('zk:1: refused');
  expect(said.at(-1)).toBe('1002: ZooKeeper has been unreachable for 2.0 s, retrying: zk:1: refused');
});
