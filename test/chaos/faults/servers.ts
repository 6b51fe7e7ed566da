/** Faults of the ZooKeeper servers and of the network between them. */
import type { ServerPart } from '../plan.js';
import type { World } from '../world.js';
import type { FaultReporter, Of, TargetedFault } from './targeted-fault.js';

export async function serverFault(
  fault: Of<'kill-server' | 'freeze-server' | 'isolate-server' | 'slow-server' | 'reset-server'>,
  world: World,
  reporter: FaultReporter,
): Promise<TargetedFault | null> {
  const index = await serverOf(fault.on, world);
  const server = world.servers[index];
  if (server === undefined) return null;
  // The fault ends only when the server is serving again.
  const heal = async () => {
    await world.peers.heal();
    await server.ready();
  };
  const targeted = { nodes: [], ensemble: true, silences: true, end: heal };
  const who = `${fault.on}, server ${index}`;
  switch (fault.kind) {
    case 'kill-server':
      return {
        ...targeted,
        detail: who,
        begin: async () => {
          reporter.crash(`server ${index}`);
          await server.kill9();
        },
        end: () => server.restart(),
      };
    case 'freeze-server':
      return {
        ...targeted,
        detail: who,
        begin: () => server.pause(),
        end: async () => {
          await server.resume();
          await server.ready();
        },
      };
    case 'isolate-server':
      return {
        ...targeted,
        detail: `${who}, ${fault.lost} lost`,
        begin: () => world.peers.isolate(index, fault.lost),
      };
    case 'slow-server':
      return {
        ...targeted,
        detail: `${who}, ${fault.delayMs} ms each way`,
        begin: async () => world.peers.delay(index, fault.delayMs),
      };
    case 'reset-server':
      return { ...targeted, detail: who, begin: async () => world.peers.reset(index) };
  }
}

export async function killMajority(world: World, reporter: FaultReporter): Promise<TargetedFault> {
  const first = await serverOf('ensemble-leader', world);
  const victims = [first, (first + 1) % world.servers.length];
  return {
    nodes: [],
    ensemble: true,
    blocks: true,
    silences: true,
    detail: `servers ${victims.join(' and ')}`,
    begin: async () => {
      for (const index of victims) {
        reporter.crash(`server ${index}`);
        await world.servers[index]?.kill9();
      }
    },
    end: async () => {
      await Promise.all(victims.map((index) => world.servers[index]?.restart()));
    },
  };
}

async function serverOf(part: ServerPart, world: World): Promise<number> {
  const leads = await Promise.all(world.servers.map((server) => server.isLeader()));
  return Math.max(0, part === 'ensemble-leader' ? leads.indexOf(true) : leads.indexOf(false));
}
