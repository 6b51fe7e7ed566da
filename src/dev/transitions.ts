/** Observes the transitions of a development group, which its elector records in the history. */
import type { Commit } from '../embedded/commit.js';
import { parseJson } from '../model/names.js';
import type { GroupPaths } from '../model/paths.js';
import { historyRecordSchema, type TransitionRecord } from '../model/znodes.js';
import type { Stage } from './group.js';

type Observed = Pick<Stage, 'server' | 'paths'>;

/** Calls `listener` when a transition has ended. Returns a function that removes the listener. */
export function onTransition(
  { server, paths }: Observed,
  listener: (record: TransitionRecord) => void,
): () => void {
  return server.onCommit((commit) => {
    for (const record of transitionsOf(commit, paths)) listener(record);
  });
}

/** Resolves when a node has become READY. Call this before the nodes are started. */
export function firstReady(stage: Observed): Promise<void> {
  return new Promise((resolve) => {
    const unlisten = onTransition(stage, ({ outcome }) => {
      if (outcome !== 'READY') return;
      unlisten();
      resolve();
    });
  });
}

function transitionsOf({ operations }: Commit, paths: GroupPaths): TransitionRecord[] {
  const records = operations
    .filter(({ type, path }) => type === 'create' && path.startsWith(paths.historyPrefix))
    .map(({ data }) => parseJson(historyRecordSchema, data?.toString('utf8') ?? '').value);
  return records.filter((record) => record?.kind === 'transition');
}
