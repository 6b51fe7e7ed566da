/** Faults of hooks and health checks. */
import { spawnSync } from 'node:child_process';
import type { HookBehaviour } from '../../support/hook-log.js';
import { until } from '../../support/until.js';
import type { World } from '../world.js';
import { asOperator, slotFlags } from './people.js';
import { aimText, type FaultReporter, nodeOf, type Of, type TargetedFault } from './targeted-fault.js';

const badTakeovers: Readonly<Record<Of<'bad-takeover'>['how'], HookBehaviour>> = {
  fails: { exitCode: 1 },
  'fails late': { exitCode: 1, takeMs: 2_500 },
  hangs: { hang: true },
  'is slow': { takeMs: 2_500 },
  'is stubborn': { stubborn: true },
};

const badReleases: Readonly<Record<Of<'bad-release'>['how'], HookBehaviour>> = {
  fails: { exitCode: 1 },
  hangs: { hang: true },
  'is slow': { takeMs: 1_500 },
  'leaves the workload': { leave: true },
  'leaves a stubborn workload': { leave: true, exitCode: 1, takeMs: 300 },
};

export async function hookFault(
  fault: Of<'bad-takeover' | 'bad-release'>,
  world: World,
  reporter: FaultReporter,
): Promise<TargetedFault | null> {
  const { slot = 1 } = fault;
  const leader = world.client.leader(slot)?.node ?? null;
  if (leader === null) return null;
  const others = world.standbys();
  const isTakeover = fault.kind === 'bad-takeover';
  const phase = isTakeover ? 'takeover' : 'release';
  const nodes = isTakeover ? others.slice(0, fault.count) : [leader];
  const behaviour = isTakeover ? badTakeovers[fault.how] : badReleases[fault.how];
  const [candidate = ''] = others;
  return {
    nodes,
    slots: [slot],
    detail: `${nodes.join(', ')}: ${fault.how}; ${leader} is to hand over to ${candidate}`,
    begin: async () => {
      for (const node of nodes) await world.hooks.behave(node, phase, behaviour);
      if (fault.kind === 'bad-release' && fault.how === 'leaves a stubborn workload') {
        await world.hooks.behave(leader, 'takeover', { stubborn: true });
      }
      await asOperator(['switchover', '--to', candidate, ...slotFlags(fault)], world, reporter);
    },
    end: async () => {
      for (const node of new Set([...nodes, leader])) {
        for (const each of ['takeover', 'release'] as const) await world.hooks.behave(node, each, {});
      }
    },
  };
}

const hasPython = spawnSync('python3', ['--version']).status === 0;
const oddPatienceMs = 8_000;

/** Prepares an odd workload. Returns null if no node can have one. */
export async function oddWorkload(
  fault: Of<'odd-workload'>,
  world: World,
  reporter: FaultReporter,
): Promise<TargetedFault | null> {
  const { slot = 1 } = fault;
  const leader = world.client.leader(slot)?.node ?? null;
  const [candidate] = world.standbys();
  if (!hasPython) reporter.note('python3 is not installed');
  if (leader === null || candidate === undefined || !hasPython) return null;
  const moves = (to: string) => asOperator(['switchover', '--to', to, ...slotFlags(fault)], world, reporter);
  const isLeft = async () => (await world.hooks.living()).every(({ node }) => node !== candidate);
  return {
    nodes: [],
    slots: [slot],
    detail: `${candidate} is to take over from ${leader} and back; its workload: ${fault.how}`,
    begin: async () => {
      await world.hooks.behave(candidate, 'takeover', { odd: fault.how });
      await world.hooks.behave(candidate, 'release', { leave: true });
      await moves(candidate);
    },
    end: async () => {
      await moves(leader);
      // The release must find what it leaves to Petrel, so it keeps its behaviour until then.
      await until(isLeft, { timeoutMs: oddPatienceMs }).catch(() => reporter.note(`${candidate} works on`));
      for (const each of ['takeover', 'release'] as const) await world.hooks.behave(candidate, each, {});
    },
  };
}

export async function sickNode(fault: Of<'sick-node'>, world: World): Promise<TargetedFault | null> {
  const node = await nodeOf(fault, world, new Set());
  if (node === null) return null;
  return {
    nodes: [node],
    slots: [],
    detail: `${aimText(fault)} ${node}`,
    begin: () => world.setHealth(node, false),
    end: () => world.setHealth(node, true),
  };
}
