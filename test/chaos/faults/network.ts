/** Faults of the connections between nodes and servers. */
import type { Directions } from '../../support/proxy.js';
import type { World } from '../world.js';
import { aimText, nodeOf, type Of, type TargetedFault } from './targeted-fault.js';

export async function networkFault(
  fault: Of<'cut-node' | 'slow-node' | 'reset-node'>,
  world: World,
): Promise<TargetedFault | null> {
  const node = await nodeOf(fault, world, new Set());
  if (node === null) return null;
  const links = world.links(node);
  const targeted = { nodes: [node], slots: [], silences: true, end: () => links.heal() };
  const who = `${aimText(fault)} ${node}`;
  switch (fault.kind) {
    case 'cut-node':
      return {
        ...targeted,
        detail: `${who}, ${lossNames[fault.lost]}`,
        // If only messages to the node are lost, messages from the node may keep its session alive. If the
        // node is the elector, it then keeps its seat although it receives nothing.
        blocks: fault.lost === 'toClient',
        begin: async () => void links.cut(fault.lost),
      };
    case 'slow-node':
      return {
        ...targeted,
        detail: `${who}, ${fault.delayMs} ms each way`,
        begin: async () => links.delay(fault.delayMs),
      };
    case 'reset-node':
      return { nodes: [node], slots: [], silences: true, detail: who, begin: async () => links.reset() };
  }
}

const lossNames: Readonly<Record<Directions, string>> = {
  both: 'both ways',
  toServer: 'what it says is lost',
  toClient: 'answers to it are lost',
};

export function cutEverybody(world: World): TargetedFault {
  return {
    nodes: [],
    detail: 'both ways',
    blocks: true,
    silences: true,
    begin: async () => world.nodes.forEach((node) => void world.links(node).cut()),
    end: async () => {
      for (const node of world.nodes) await world.links(node).heal();
    },
  };
}
