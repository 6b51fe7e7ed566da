/** Faults of hooks and health checks. */
import type { HookBehaviour } from '../../support/hook-log.js';
import type { World } from '../world.js';
import { asOperator, slotFlags } from './people.js';
import { aimText, type FaultReporter, nodeOf, type Of, type Trouble } from './trouble.js';

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

export async function hookTrouble(
  fault: Of<'bad-takeover' | 'bad-release'>,
  world: World,
  reporter: FaultReporter,
): Promise<Trouble | null> {
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

export async function sickNode(fault: Of<'sick-node'>, world: World): Promise<Trouble | null> {
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
