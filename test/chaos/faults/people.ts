/** Commands that operators run during other faults. */
import type { World } from '../world.js';
import { type FaultReporter, nodeOf, type Of, type TargetedFault } from './targeted-fault.js';

type PeopleFault = Of<
  'switchover' | 'failover' | 'lower-site' | 'disable-site' | 'prefer-site' | 'pause' | 'drain' | 'configure'
>;

export async function people(
  fault: PeopleFault,
  world: World,
  reporter: FaultReporter,
): Promise<TargetedFault | null> {
  const slot = 'slot' in fault && fault.slot !== undefined ? fault.slot : 1;
  const leader = world.client.leader(slot)?.node ?? null;
  if (leader === null) return null;
  const site = world.siteOf(leader);
  const inSite = world.nodes.filter((node) => world.siteOf(node) === site);
  const candidate = candidateOf(leader, world);
  const does = (...commands: string[][]) => ({
    detail: `leader ${leader}; ${commands.map((args) => args.join(' ')).join('; ')}`,
    begin: async () => {
      for (const args of commands) await asOperator(args, world, reporter);
    },
    end: () => world.restoreConfig(),
  });
  switch (fault.kind) {
    case 'switchover': {
      const to = fault.to === 'other' ? ['--to', candidate] : [];
      const request = does(['switchover', ...to, ...slotFlags(fault)]);
      return { nodes: [], slots: [slot], ...request, end: async () => {} };
    }
    case 'failover':
      return {
        nodes: [],
        slots: [slot],
        ...does(['failover', '--to', candidate, ...slotFlags(fault)]),
        end: async () => {},
      };
    case 'lower-site':
      return { nodes: inSite, slots: [], ...does(['site', 'priority', site, '0', '--for', '2m']) };
    case 'disable-site':
      return { nodes: inSite, slots: [], ...does(['site', 'disable', site]) };
    case 'prefer-site': {
      const elsewhere = world.nodes.find((node) => world.siteOf(node) !== site) ?? leader;
      return {
        nodes: [],
        ...does(['config', 'set', 'failback', 'auto'], ['site', 'priority', world.siteOf(elsewhere), '200']),
      };
    }
    case 'pause':
      return { nodes: [], slots: [], blocks: true, ...does(['pause']) };
    case 'drain': {
      const node = (await nodeOf(fault, world, new Set())) ?? leader;
      return { nodes: [node], slots: [], ...does(['node', 'drain', node]) };
    }
    case 'configure':
      return { nodes: [], ...movedBy(fault, world), ...does(['config', 'set', fault.key, fault.value]) };
  }
}

/** Returns the flags that select a slot. Returns no flags for a group with one leader. */
export function slotFlags({ slot }: { readonly slot?: number | undefined }): string[] {
  return slot === undefined ? [] : ['--slot', String(slot)];
}

/** Returns a node that leads no slot: the next one after the leader. Returns the leader if there is none. */
function candidateOf(leader: string, world: World): string {
  const from = world.nodes.indexOf(leader);
  const inOrder = [...world.nodes.slice(from + 1), ...world.nodes.slice(0, from)];
  const standbys = world.standbys();
  return inOrder.find((node) => standbys.includes(node)) ?? leader;
}

/**
 * Returns the slots whose leaders a change of the configuration may move. `strategy` and `failback` may move
 * any leader. Other settings, such as time limits, move no leader.
 */
function movedBy({ key, value }: Of<'configure'>, world: World): Pick<TargetedFault, 'slots'> {
  if (key === 'leaders') return { slots: world.slots.filter((slot) => slot > Number(value)) };
  return key === 'strategy' || key === 'failback' ? {} : { slots: [] };
}

/**
 * Runs a command. Only notes an error message if the command fails, because the servers may be unreachable at
 * that time.
 */
export async function asOperator(
  args: readonly string[],
  world: World,
  reporter: FaultReporter,
): Promise<void> {
  const outcome = await world.petrel([...args, '--yes', '--no-wait']);
  if (outcome !== 'done') reporter.note(`petrel ${args.join(' ')} ${outcome}`);
}
