/**
 * Agents that compare scores: the nodes for which a new group waits, and the conditions under which a leader
 * without a fault is replaced.
 */
import { describe, expect, it } from 'vitest';
import { Measurements } from '../../src/scores/measurements.js';
import { startDevelopmentServer } from '../../src/testing.js';
import { Group, type Member } from '../support/agent-group.js';
import { until } from '../support/until.js';

const electedLines = ({ log }: Member) => log.filter((line) => /elect/.test(line));

describe('a group that compares scores', () => {
  it('waits with its first election, and leaves its leader for a better one when that has lasted', async () => {
    await using server = await startDevelopmentServer();
    const stabilization = { window: '2s', interval: '200ms' };
    await using group = await Group.found(server.connectString, {
      strategy: 'request',
      firstElection: { nodes: 2, within: '10m' },
      failbackHold: '0s',
      stabilization,
    });
    const rates = new Map(['a', 'b'].map((node) => [node, new Measurements()]));
    const report = (node: string, rate: number) => rates.get(node)?.report('requests', rate);
    const joined = async (node: string) => {
      const measurements = rates.get(node) ?? new Measurements();
      const member = group.start(node, { measurements });
      await member.joined();
      return member;
    };
    report('a', 100);
    const a = await joined('a');
    await until(() => a.log.some((line) => /waits for 2 eligible nodes with scores: 1 so far/.test(line)));
    expect((await group.elected()).term).toBe(0);
    report('b', 80);
    await joined('b');
    await group.ready('a');
    expect(await group.elected()).toMatchObject({ term: 1, cause: 'first', reason: 'requests = 100' });

    const before = electedLines(a).length;
    report('a', 106);
    report('b', 300);
    await group.ready('b');
    const { cause, reason } = await group.elected();
    expect({ cause, reason }).toEqual({ cause: 'preference', reason: 'better than a: requests = 300' });
    // The elector has decided ten times or more. It does not log changed values, or waits that only become
    // shorter.
    const news = electedLines(a).slice(before);
    expect(news.filter((line) => line.startsWith('a remains elected')).length).toBeLessThanOrEqual(2);
    expect(news.some((line) => /b would be better .*if it stays better/.test(line))).toBe(true);
  });
});
