/**
 * Electors that are killed in the middle of a transition, contradictory operator requests, pauses, and
 * damaged znodes.
 */
import { describe, expect, it } from 'vitest';
import { runProcess } from '../support/agents.js';
import { type Cluster, useCluster } from '../support/cluster.js';
import { runCommand } from '../support/command.js';
import type { Leader } from '../support/group-view.js';
import { useSharedServers } from '../support/servers.js';
import { until } from '../support/until.js';

const servers = useSharedServers();
const sites = { a1: 'a', a2: 'a', b1: 'b', b2: 'b' };

interface Cast {
  readonly elector: string;
  readonly old: Leader;
  readonly candidate: string;
}

interface Moment {
  readonly when: string;
  readonly hooks: Readonly<Record<'old' | 'candidate', Parameters<Cluster['behave']>[1]>>;
  reached(cluster: Cluster, cast: Cast): Promise<unknown>;
}

const slow = { takeMs: 800 };

const moments: readonly Moment[] = [
  {
    when: 'when the decision is written',
    hooks: { old: { release: slow }, candidate: {} },
    reached: (cluster, { candidate }) =>
      until(async () => (await cluster.view.elected()).node === candidate, { intervalMs: 2 }),
  },
  {
    when: 'while the candidate prepares',
    hooks: { old: {}, candidate: { prepare: slow } },
    reached: (cluster, { candidate, old }) =>
      until(async () =>
        (await cluster.hooks.events()).some(
          ({ node, phase, term }) => node === candidate && phase === 'prepare' && term > old.term,
        ),
      ),
  },
  {
    when: 'while the old leader releases',
    hooks: { old: { release: slow }, candidate: {} },
    reached: (cluster, { old }) => cluster.hooked(old.node, 'release', 'started', old.token - 1n),
  },
  {
    when: 'while the candidate is in PROGRESS',
    hooks: { old: {}, candidate: { takeover: slow } },
    reached: (cluster, { old }) =>
      until(async () => isProgress(await cluster.view.leader(), old), { intervalMs: 2 }),
  },
  {
    when: 'when the candidate has just become READY',
    hooks: { old: {}, candidate: {} },
    reached: (cluster, { candidate }) => cluster.ready({ node: candidate, intervalMs: 2 }),
  },
];

describe('in one group', () => {
  const cluster = useCluster({
    servers,
    sites,
    hooks: ['prepare', 'takeover', 'release'],
  });

  describe('an elector that is killed', () => {
    for (const { when, hooks, reached } of moments)
      it(`P31 ${when}: the transition it began is completed, once`, async () => {
        const cast = await castOf(cluster);
        const { elector, old, candidate } = cast;
        await cluster.behave(old.node, hooks.old);
        await cluster.behave(candidate, hooks.candidate);
        await cluster.view.switchOver(candidate);
        await reached(cluster, cast);
        const { term } = await cluster.view.elected();
        await cluster.agent(elector).kill9();
        await cluster.ready({ node: candidate, after: old.token });
        await until(async () => !(await cluster.view.seated()).includes(elector));
        const records = await until(async () => {
          const found = (await cluster.view.transitions()).filter((record) => record.term >= term);
          return found.length > 0 && found;
        });
        expect(records).toMatchObject([
          { term, node: candidate, outcome: 'READY', previous: { node: old.node } },
        ]);
      });

    it('while it takes over itself: others elect, and one of them leads', async () => {
      const [elector = ''] = await cluster.view.seated();
      const old = await awayFrom(cluster, elector);
      await cluster.behave(elector, { takeover: slow });
      await cluster.view.switchOver(elector);
      await cluster.hooked(elector, 'takeover', 'started', old.token);
      await cluster.agent(elector).kill9();
      await cluster.ready({ not: elector, after: old.token });
    });

    it('together with the leader: others elect, and one of them leads', async () => {
      const { elector, old } = await castOf(cluster);
      await Promise.all([elector, old.node].map((node) => cluster.agent(node).kill9()));
      const next = await cluster.ready({ after: old.token });
      expect([elector, old.node]).not.toContain(next.node);
    });
  });

  describe('operators', () => {
    it('P32 who schedule two switchovers at once get one, and the other is refused', async () => {
      const old = await cluster.ready();
      const targets = cluster.others(old.node).slice(0, 2);
      // Immediate switchovers might not overlap: the first could be complete before the second is requested.
      const answers = await Promise.all(
        targets.map((node) => petrel(cluster, 'switchover', '--to', node, '--at', '1h', '-y')),
      );
      const done = targets.filter((_, index) => answers[index]?.code === 0);
      expect(done, JSON.stringify(answers)).toHaveLength(1);
      const refused = answers.find(({ code }) => code !== 0);
      expect(refused?.stderr).toContain(`switchover to ${done[0]}`);
      expect(refused?.stderr).toContain('is still pending');
      expect((await cluster.view.config()).switchover?.to).toEqual({ node: done[0] });
    });

    it('P32 who write two switchovers at once, past the command line, get one at a time', async () => {
      const old = await cluster.ready();
      const targets = cluster.others(old.node).slice(0, 2);
      await Promise.all(targets.map((node) => cluster.view.switchOver(node)));
      const next = await cluster.ready({ after: old.token });
      expect(targets).toContain(next.node);
    });

    it('P55 who pause the group have no node take over, whichever dies, until they resume it', async () => {
      const { elector, old } = await castOf(cluster);
      expect((await inside(cluster, 'pause', '--reason', 'work on the storage')).code).toBe(0);
      await cluster.agent(elector).kill9();
      await until(async () => (await cluster.view.seated())[0] !== elector);
      const [newElector = ''] = await cluster.view.seated();
      await cluster.agent(old.node).kill9();
      await until(async () => (await cluster.view.registration(old.node)) === null);
      if (newElector !== old.node) await cluster.agent(newElector).logged(/remains elected: .*paused/);
      expect(await cluster.view.elected()).toMatchObject({ node: old.node, term: old.term });
      await cluster.run(old.node);
      const again = await cluster.ready({ node: old.node, after: old.token });
      expect(again.term).toBe(old.term);
      await cluster.agent(old.node).kill9();
      await until(async () => (await cluster.view.leader()) === null);
      expect((await inside(cluster, 'resume')).code).toBe(0);
      await cluster.ready({ not: old.node });
    });
  });

  describe('a group whose znodes are damaged', () => {
    it('at leader/elected: it is written again, and nothing moves', async () => {
      const old = await cluster.ready();
      await write(cluster, cluster.view.paths.elected, '{"node":');
      await until(async () => (await cluster.view.elected()).node === old.node);
      const leader = await cluster.ready();
      expect(leader).toMatchObject({ node: old.node, token: old.token });
    });

    it('at config: the last that could be read goes on counting, and says so', async () => {
      const old = await cluster.ready();
      const [elector = ''] = await cluster.view.seated();
      const heard = cluster.agent(elector).log.length;
      const before = await (await cluster.view.store()).getData(cluster.view.paths.config);
      await write(cluster, cluster.view.paths.config, '{"strategi":"oldest"}');
      await cluster.agent(elector).logged(/configuration cannot be used/, { after: heard });
      await cluster.agent(old.node).kill9();
      await cluster.ready({ not: old.node });
      await write(cluster, cluster.view.paths.config, before.data.toString());
    });

    it('at a node’s registration: only that node is not elected', async () => {
      const old = await cluster.ready();
      const [damaged = '', other = ''] = cluster.others(old.node);
      await write(cluster, cluster.view.paths.node(damaged), 'x');
      await cluster.view.switchOver(other);
      await cluster.ready({ node: other });
    });

    it('by the loss of the claim: the leader stops at once, and a node leads again', async () => {
      const old = await cluster.ready();
      await (await cluster.view.store()).delete(cluster.view.paths.current, 'any');
      await cluster.ready({ after: old.token });
    });

    it('by the loss of the leader’s seat and registration: it takes new ones', async () => {
      const { node } = await cluster.ready();
      const store = await cluster.view.store();
      const { children } = await store.getChildren(cluster.view.paths.election);
      const seat = children.find((name) => name.startsWith(`${node}-`)) ?? '';
      await store.delete(cluster.view.paths.seat(seat), 'any');
      await store.delete(cluster.view.paths.node(node), 'any');
      await until(async () => (await cluster.view.registration(node)) !== null);
      await cluster.ready();
    });

    it('P21 by a seat lower than all others that no node holds: it is passed over in the end', async () => {
      const old = await cluster.ready();
      const store = await cluster.view.store();
      await store.create(`${cluster.view.paths.election}/ghost--000000005`, Buffer.alloc(0), 'persistent');
      await cluster.agent(old.node).kill9();
      await cluster.ready({ not: old.node, timeoutMs: 60_000 });
      expect(await cluster.view.seated()).not.toContain('ghost');
    });
  });
});

describe('a group whose znodes are all deleted', () => {
  const cluster = useCluster({ servers, sites: { a1: 'a', a2: 'a', b1: 'b' }, exclusive: false });

  it('is created again, and a node leads', async () => {
    const old = await cluster.ready();
    await deleteTree(cluster, cluster.root);
    await until(async () => (await cluster.view.seated()).length === cluster.nodes.length);
    await cluster.ready({ after: old.token });
  });
});

function isProgress(leader: Leader | null, old: Leader): boolean {
  return leader?.status === 'PROGRESS' && leader.token > old.token;
}

/** Returns an elector that is neither leader nor candidate, the leader, and the node that will lead next. */
async function castOf(cluster: Cluster): Promise<Cast> {
  const [elector = ''] = await cluster.view.seated();
  const old = await awayFrom(cluster, elector);
  const [candidate = ''] = cluster.others(elector, old.node);
  return { elector, old, candidate };
}

/** Returns a READY leader other than `node`. */
async function awayFrom(cluster: Cluster, node: string): Promise<Leader> {
  const leader = await cluster.ready();
  if (leader.node !== node) return leader;
  const [other = ''] = cluster.others(node);
  await cluster.view.switchOver(other);
  await cluster.ready({ node: other });
  await cluster.settle();
  return cluster.ready();
}

/** Runs a command in a separate process, so that two commands can run in parallel. */
function petrel(cluster: Cluster, ...args: string[]) {
  return runProcess(args, accessTo(cluster));
}

function inside(cluster: Cluster, ...args: string[]) {
  return runCommand(args, accessTo(cluster));
}

function accessTo(cluster: Cluster): Record<string, string> {
  return { PETREL_ZOOKEEPER: cluster.servers.connectString, PETREL_ROOT: cluster.root };
}

async function write(cluster: Cluster, path: string, text: string): Promise<void> {
  await (await cluster.view.store()).set(path, Buffer.from(text), 'any');
}

/** Deletes as `deleteall` of ZooKeeper's command line does: the agents may write in the meantime. */
async function deleteTree(cluster: Cluster, path: string): Promise<void> {
  const store = await cluster.view.store();
  const { children } = await store.getChildren(path);
  for (const name of children) await deleteTree(cluster, `${path}/${name}`).catch(() => undefined);
  await store.delete(path, 'any').catch(() => undefined);
}
