/**
 * Returns the output of `petrel list -f json` for a group without starting a process, for tests that poll.
 */

import { type Listing, listing } from '../../src/group/listing.js';
import { readEnsembleClock } from '../../src/group/time.js';
import { readGroup } from '../../src/group/view.js';
import { groupPaths } from '../../src/model/paths.js';
import { systemClock } from '../../src/ports/clock.js';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';
import { builtInRules } from '../../strategies/index.js';

export async function listingOf(zookeeper: string, root: string): Promise<Listing> {
  const store = openStore({ servers: parseConnectionString(zookeeper), sessionTimeoutMs: 10_000 });
  try {
    await store.connected();
    const paths = groupPaths(root);
    const view = await readGroup({ store, paths, rules: builtInRules }, { scores: true });
    const { epochMs } = await readEnsembleClock(store, paths, systemClock);
    return listing(view, epochMs);
  } finally {
    await store.close();
  }
}
