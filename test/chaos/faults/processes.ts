/** Faults of agents and guardians. */
import { setTimeout as sleep } from 'node:timers/promises';
import { signalIfAlive } from '../../support/process-list.js';
import type { World } from '../world.js';
import {
  aimText,
  type FaultReporter,
  nodeOf,
  type Of,
  type Taken,
  type TargetedFault,
} from './targeted-fault.js';

type KillFault = Of<'kill-agent' | 'kill-guardian' | 'kill-both' | 'orphan-workload'>;
type FreezeFault = Of<'freeze-agent' | 'freeze-guardian' | 'freeze-machine'>;
type ProcessFault = KillFault | FreezeFault | Of<'stop-agent'>;

export async function processFault(
  fault: ProcessFault,
  world: World,
  taken: Taken,
  reporter: FaultReporter,
): Promise<TargetedFault | null> {
  const node = await nodeOf(fault, world, taken);
  if (node === null) return null;
  const targeted = { nodes: [node], slots: [], detail: `${aimText(fault)} ${node}` };
  switch (fault.kind) {
    case 'stop-agent':
      return { ...targeted, ...stopOf(node, world, reporter) };
    case 'freeze-agent':
    case 'freeze-guardian':
    case 'freeze-machine':
      return { ...targeted, silences: true, ...freezeOf(fault.kind, node, world) };
    default:
      return killOf(fault.kind, node, targeted, world, reporter);
  }
}

type Doing = Pick<TargetedFault, 'begin' | 'end'>;

const leavePatienceMs = 15_000;

function stopOf(node: string, world: World, reporter: FaultReporter): Doing {
  const agent = world.agent(node);
  return {
    begin: async () => agent.term(),
    end: async () => {
      if (!(await Promise.race([agent.exited, sleep(leavePatienceMs)]))) {
        reporter.note(`${node} had not left ${leavePatienceMs} ms after SIGTERM and its time`);
        await agent.kill9();
      }
      await world.run(node);
    },
  };
}

/**
 * Prepares a kill of one or more processes of a node. If only the agent is killed, its guardian restarts it.
 * If the guardian is killed, the node starts again when the fault ends.
 */
function killOf(
  kind: KillFault['kind'],
  node: string,
  targeted: Pick<TargetedFault, 'nodes' | 'slots' | 'detail'>,
  world: World,
  reporter: FaultReporter,
): TargetedFault | null {
  const { agent, guardian, reaper } = world.agent(node);
  if (agent === null) return null;
  const kill = async (what: string, ...pids: (number | null)[]) => {
    reporter.crash(`${what} of ${node}`);
    if (pids.includes(guardian)) world.agent(node).doom();
    else world.expectDeath(node);
    for (const pid of pids) if (pid !== null) signalIfAlive(pid, 'SIGKILL');
  };
  const end = () => world.run(node);
  switch (kind) {
    case 'kill-agent':
      return { ...targeted, begin: () => kill('agent', agent) };
    case 'kill-guardian':
      return { ...targeted, begin: () => kill('guardian', guardian), end };
    case 'kill-both':
      return { ...targeted, silences: true, begin: () => kill('guardian and agent', guardian, agent), end };
    case 'orphan-workload':
      return {
        ...targeted,
        silences: true,
        begin: () => kill('reaper, guardian and agent', reaper, guardian, agent),
        end,
      };
  }
}

function freezeOf(kind: FreezeFault['kind'], node: string, world: World): Doing {
  const thaws: (() => void)[] = [];
  return {
    begin: async () => {
      const { agent, guardian } = world.agent(node);
      // The agent kills a guardian that hangs, because it assumes that the guardian is dead.
      if (kind !== 'freeze-agent') world.agent(node).doom();
      const pids = [
        ...(kind === 'freeze-guardian' || agent === null ? [] : [agent]),
        ...(kind === 'freeze-machine' ? await world.hooks.pidsOf(node) : []),
        ...(kind === 'freeze-agent' ? [] : [guardian]),
      ];
      for (const pid of pids) thaws.push(world.freeze(pid));
    },
    end: async () => {
      for (const thaw of thaws) thaw();
    },
  };
}
