import { describe, expect, it } from 'vitest';
import { ensembleHealth } from '../../packages/page/src/ensemble.js';
import { EventParser } from '../../packages/page/src/events.js';
import { broken, type Link, linkText, noLink, received } from '../../packages/page/src/link.js';
import { columnsOf, isFound } from '../../packages/page/src/sites.js';
import {
  agoText,
  clockText,
  lengthText,
  localTimes,
  whenText,
  wholeText,
  zoneText,
} from '../../packages/page/src/times.js';
import { refusalText } from '../../packages/page/src/token.js';
import { node, site, status } from './builders.js';

describe('the link', () => {
  const live: Link = { state: 'live', heldAtMs: 1_000, reason: '' };

  it('says how old the picture is once it may not hold', () => {
    const last = received(live, 5_000);
    const lost = broken(last, 'lost', 'the agent closed the connection');
    expect(linkText(last, 6_000)).toEqual({ label: 'live', detail: '' });
    expect(linkText(last, 12_500).label).toBe('no update for 7 s');
    expect(linkText(lost, 80_000).detail).toBe(
      'The data is 1 min 15 s old. The agent does not respond (the agent closed the connection). Reconnecting.',
    );
    expect(linkText(broken(noLink, 'lost', 'refused'), 80_000).detail).toContain('No data yet');
  });

  it('distinguishes an agent that may not read from one that is disconnected', () => {
    const refused = broken(live, 'refused', 'permission denied by ZooKeeper');
    expect(linkText(refused, 9_000)).toEqual({
      label: 'agent lacks permission',
      detail: 'The data is 8 s old. permission denied by ZooKeeper.',
    });
    expect(received(refused, 9_000)).toEqual(refused);
  });

  it('takes no sign of life for news of a group that the agent has lost sight of', () => {
    const blind = broken(live, 'out-of-touch', 'connection to ZooKeeper lost');
    expect(received(blind, 9_000)).toEqual(blind);
    expect(linkText(blind, 9_000).label).toBe('agent disconnected from ZooKeeper');
  });
});

describe('events', () => {
  const stream =
    'retry: 1000\n\nid: x-1\nevent: status\ndata: {"a":1}\n\n: alive\n\nid: x-2\nevent: out\ndata: b\n\n';
  const events = [
    { event: 'status', data: '{"a":1}' },
    { event: 'out', data: 'b' },
  ];

  it('are the same in whatever pieces they come', () => {
    for (const size of [1, 2, 7, 50, stream.length]) {
      const parser = new EventParser();
      const pieces = stream.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      expect(pieces.flatMap((piece) => parser.push(piece))).toEqual(events);
    }
  });
});

describe('sites and nodes', () => {
  it('stand in the order of their names, and each node in its site', () => {
    const nodes = [node('b10'), node('b2'), node('a1'), node('c1', { site: null })];
    const sites = [site('b'), site('a'), site('empty')];
    const columns = columnsOf(status({ nodes, sites }));
    expect(
      columns.map(({ name, nodes: cards, eligible }) => [name, cards.map((card) => card.node), eligible]),
    ).toEqual([
      ['a', ['a1'], '1 of 1 eligible'],
      ['b', ['b2', 'b10'], '2 of 2 eligible'],
      ['empty', [], 'no nodes'],
      ['unknown site', ['c1'], '1 of 1 eligible'],
    ]);
  });

  it('show what is wrong with what belongs to a node', () => {
    const problems = [{ path: '/c/nodes/a1', node: 'a1', problem: 'cannot be read' }];
    const [a] = columnsOf(status({ problems }));
    expect(a?.nodes[0]?.problems).toEqual(['/c/nodes/a1 cannot be read']);
  });

  it('call nobody a leader who does not lead yet', () => {
    const roles = ['elector', 'leader', 'candidate'] as const;
    const partsOf = (state: 'READY' | 'PROGRESS') => {
      const nodes = [node('a1', { state, roles: [...roles] })];
      return columnsOf(status({ nodes }))[0]?.nodes[0]?.parts;
    };
    expect(partsOf('READY')).toEqual(roles);
    expect(partsOf('PROGRESS')).toEqual(['elector', 'candidate']);
  });

  it('are found by any word of name, site, host and state', () => {
    expect(isFound(node('a1'), 'host-A1 stand')).toBe(true);
    expect(isFound(node('a1'), 'a1 ready')).toBe(false);
  });
});

describe('lengths of time', () => {
  it('are written as people read them, and never rounded up', () => {
    const lengths = [0, 132.9, 4_290, 59_999, 60_000, 3_725_000, 90_000_000, -5];
    expect(lengths.map(lengthText)).toEqual([
      '0.000 s',
      '0.132 s',
      '4.2 s',
      '59 s',
      '1 min',
      '1 h 2 min',
      '1 d 1 h',
      '0.000 s',
    ]);
    expect(wholeText(4_999)).toBe('4 s');
  });

  it('lie ahead or behind', () => {
    const nowMs = Date.UTC(2026, 0, 1);
    const at = (ms: number) => new Date(nowMs + ms).toISOString();
    expect([90_000, -10, -125_000].map((ms) => agoText(at(ms), nowMs))).toEqual([
      'in 1 min 30 s',
      'just now',
      '2 min 5 s ago',
    ]);
  });

  it('ahead are rounded to what is shown', () => {
    const nowMs = Date.UTC(2026, 0, 1);
    const ahead = (ms: number) => agoText(new Date(nowMs + ms).toISOString(), nowMs);
    expect(ahead(2 * 3_600_000 - 300)).toBe('in 2 h');
    expect(ahead(3_600_000 - 400)).toBe('in 1 h');
    expect(ahead(86_400_000 - 20_000)).toBe('in 1 d');
    expect(ahead(90_400)).toBe('in 1 min 30 s');
  });
});

describe('instants', () => {
  const nowMs = new Date(2026, 0, 31, 12, 10).getTime();
  const at = new Date(2026, 0, 31, 14, 10).toISOString();
  const zone = zoneText(-new Date(nowMs).getTimezoneOffset());

  it('have a zone, and a date where it is not today', () => {
    expect(clockText(at, nowMs)).toBe(`14:10:00 ${zone}`);
    expect(clockText(at, nowMs - 86_400_000)).toBe(`2026-01-31 14:10:00 ${zone}`);
    expect(whenText(at, nowMs)).toBe(`in 2 h, 14:10 ${zone}`);
  });

  it('have zones that are no riddle', () => {
    expect([0, 60, 330, -210].map(zoneText)).toEqual(['UTC', 'UTC+1', 'UTC+5:30', 'UTC-3:30']);
  });

  it('are local in the agent’s sentences', () => {
    const what = `site a: priority 100 → 0, until ${at}`;
    expect(localTimes(what, nowMs)).toBe(`site a: priority 100 → 0, until 14:10 ${zone} (in 2 h)`);
    expect(localTimes('not before 2026-99-99T99:99:99Z', nowMs)).toBe('not before 2026-99-99T99:99:99Z');
  });
});

describe('the ensemble', () => {
  const servers = ['zk1:2181', 'zk2:2181'].map((server) => ({ server, mode: 'follower', problem: null }));
  const process = { version: '1.0.0', node: 'a1', host: 'h', pid: 1, changes: true };
  const agent = { ...process, session: 'CONNECTED', servers };

  it('is well if the agent is connected and every server responds', () => {
    expect(ensembleHealth(agent)).toEqual({ problem: false, text: 'connected, 2 of 2 servers respond' });
  });

  it('is not if a server is down, or the agent is disconnected', () => {
    const [first] = servers;
    const down = { server: 'zk2:2181', mode: null, problem: 'connect ECONNREFUSED' };
    expect(ensembleHealth({ ...agent, servers: [...(first === undefined ? [] : [first]), down] })).toEqual({
      problem: true,
      text: 'connected, 1 of 2 servers respond; zk2:2181: connect ECONNREFUSED',
    });
    expect(ensembleHealth({ ...agent, session: 'SUSPENDED' })).toEqual({
      problem: true,
      text: 'this agent is not connected, 2 of 2 servers respond',
    });
  });
});

describe('a rejected token', () => {
  const failed = { ok: false, reasons: [] } as const;

  it('is explained to a person, not to a program', () => {
    const message = 'token missing or wrong: send the header Authorization: Bearer TOKEN';
    const text = refusalText({ ...failed, status: 401, message });
    expect(text).toContain('not the token of this agent');
    expect(text).not.toContain('header');
    expect(refusalText({ ...failed, status: 429, message: 'try again in 30 s' })).toBe('try again in 30 s');
  });
});
