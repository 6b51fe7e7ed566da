/** What people ask of the group while all else goes on. */
import { sites, type World } from '../world.js';
import { nodeOf, type Of, type Tell, type Trouble } from './trouble.js';

type PeopleFault = Of<
  'switchover' | 'failover' | 'lower-site' | 'disable-site' | 'prefer-site' | 'pause' | 'drain' | 'configure'
>;

export async function people(fault: PeopleFault, world: World, tell: Tell): Promise<Trouble | null> {
  const leader = world.client.leader?.node ?? null;
  const site = sites[leader ?? ''];
  if (leader === null || site === undefined) return null;
  const inSite = world.nodes.filter((node) => sites[node] === site);
  const elsewhere = world.nodes.filter((node) => sites[node] !== site);
  const heir = world.nodes[(world.nodes.indexOf(leader) + 1) % world.nodes.length] ?? leader;
  const does = (...commands: string[][]) => ({
    detail: `leader ${leader}; ${commands.map((args) => args.join(' ')).join('; ')}`,
    begin: async () => {
      for (const args of commands) await asOperator(args, world, tell);
    },
    end: () => world.restoreConfig(),
  });
  switch (fault.kind) {
    case 'switchover': {
      const to = fault.to === 'other' ? ['--to', heir] : [];
      return { nodes: [], ...does(['switchover', ...to]), end: async () => {} };
    }
    case 'failover':
      return { nodes: [], ...does(['failover', '--to', heir]), end: async () => {} };
    case 'lower-site':
      return { nodes: inSite, ...does(['site', 'priority', site, '0', '--for', '2m']) };
    case 'disable-site':
      return { nodes: inSite, ...does(['site', 'disable', site]) };
    case 'prefer-site': {
      const other = sites[elsewhere[0] ?? ''] ?? site;
      return {
        nodes: [],
        ...does(['config', 'set', 'failback', 'auto'], ['site', 'priority', other, '200']),
      };
    }
    case 'pause':
      return { nodes: [], blocks: true, ...does(['pause']) };
    case 'drain': {
      const node = (await nodeOf(fault.on, world, new Set())) ?? leader;
      return { nodes: [node], ...does(['node', 'drain', node]) };
    }
    case 'configure':
      return { nodes: [], ...does(['config', 'set', fault.key, fault.value]) };
  }
}

/** What a person would be told when it did not work goes into the notes: servers may be out of reach just then. */
export async function asOperator(args: readonly string[], world: World, tell: Tell): Promise<void> {
  const outcome = await world.petrel([...args, '--yes', '--no-wait']);
  if (outcome !== 'done') tell.note(`petrel ${args.join(' ')} ${outcome}`);
}
