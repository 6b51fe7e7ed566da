import { describe, expect, it } from 'vitest';
import { EventParser } from '../../packages/page/src/events.js';
import { broken, type Link, linkText, noLink, received } from '../../packages/page/src/link.js';
import { columnsOf, isFound } from '../../packages/page/src/sites.js';
import { agoText, lengthText, wholeText } from '../../packages/page/src/times.js';
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

  it('tells an agent that may not read from one that has lost touch', () => {
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
});
