/** Prepares each kind of fault for the world. A prepared fault can be applied and reverted. */
import { hookFault, oddWorkload, sickNode } from './faults/hooks.js';
import { cutEverybody, networkFault } from './faults/network.js';
import { people } from './faults/people.js';
import { processFault } from './faults/processes.js';
import { quota } from './faults/quota.js';
import { silentReaders } from './faults/readers.js';
import { killMajority, serverFault } from './faults/servers.js';
import type { FaultReporter, Taken, TargetedFault } from './faults/targeted-fault.js';
import type { Fault } from './plan.js';
import type { World } from './world.js';

/** Prepares a fault. Returns null if the fault has no possible target. */
export async function targetedFault(
  fault: Fault,
  world: World,
  taken: Taken,
  reporter: FaultReporter,
): Promise<TargetedFault | null> {
  switch (fault.kind) {
    case 'kill-agent':
    case 'stop-agent':
    case 'freeze-agent':
    case 'kill-guardian':
    case 'freeze-guardian':
    case 'kill-both':
    case 'freeze-machine':
    case 'orphan-workload':
      return processFault(fault, world, taken, reporter);
    case 'cut-node':
    case 'slow-node':
    case 'reset-node':
      return networkFault(fault, world);
    case 'cut-everybody':
      return cutEverybody(world);
    case 'kill-server':
    case 'freeze-server':
    case 'isolate-server':
    case 'slow-server':
    case 'reset-server':
      return serverFault(fault, world, reporter);
    case 'kill-majority':
      return killMajority(world, reporter);
    case 'sick-node':
      return sickNode(fault, world);
    case 'bad-takeover':
    case 'bad-release':
      return hookFault(fault, world, reporter);
    case 'odd-workload':
      return oddWorkload(fault, world, reporter);
    case 'silent-readers':
      return silentReaders(fault, world, reporter);
    case 'quota':
      return quota(world);
    default:
      return people(fault, world, reporter);
  }
}
