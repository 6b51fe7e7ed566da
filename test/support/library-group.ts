/**
 * A group of nodes that lead inside the test process, through the library. The first letter of a node's name
 * is its site.
 */
import { type LeaderFunctions, Petrel } from '../../src/index.js';
import { sharedZooKeeper, uniqueRoot } from './ensemble.js';

export interface LibraryGroup extends AsyncDisposable {
  readonly zookeeper: string;
  readonly root: string;
  /** Environment variables for a command line that reads this group. */
  readonly env: Readonly<Record<string, string>>;
  readonly nodes: ReadonlyMap<string, Petrel>;
}

export interface LibraryGroupOptions {
  /** Returns the takeover function of a node. Default: no function. */
  readonly takeover?: (node: string) => LeaderFunctions['takeover'];
}

/** Starts the nodes one after the other, so that the first one is the elector. */
export async function startGroup(
  names: readonly string[],
  { takeover }: LibraryGroupOptions = {},
): Promise<LibraryGroup> {
  const zookeeper = await sharedZooKeeper();
  const root = uniqueRoot('cli');
  const nodes = new Map<string, Petrel>();
  for (const nodeId of names) {
    const petrel = await Petrel.join({
      zookeeper,
      root,
      nodeId,
      site: nodeId.slice(0, 1),
      sessionTimeout: '9s',
    });
    nodes.set(nodeId, petrel);
    const prepare = takeover?.(nodeId);
    petrel.lead(untilAborted, prepare === undefined ? {} : { takeover: prepare });
  }
  return {
    zookeeper,
    root,
    env: { PETREL_ZOOKEEPER: zookeeper, PETREL_ROOT: root },
    nodes,
    async [Symbol.asyncDispose]() {
      await Promise.all([...nodes.values()].map((petrel) => petrel.close()));
    },
  };
}

function untilAborted(_leadership: unknown, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
