/**
 * Changes the group's configuration on the elector's own initiative. Each change is written together with a
 * record in the history. If a quota refuses the record, the change is written without it.
 */
import type { Logger } from 'pino';
import type { ElectorAction } from '../../core/round.js';
import { type GroupConfig, withSites } from '../../model/group-config.js';
import type { GroupPaths } from '../../model/paths.js';
import type { GroupSnapshot } from '../../model/snapshot.js';
import type { ChangeRecord } from '../../model/znodes.js';
import type { Store } from '../../ports/store.js';
import { recordedText, withRecord } from '../../tree/history-room.js';
import { ifStillTrue } from '../conditional-write.js';
import { checkSeat, encode } from '../membership.js';

export type ConfigAction = Extract<ElectorAction, { do: 'change-sites' | 'drop-request' | 'pause' }>;

interface Turn {
  readonly store: Store;
  readonly snapshot: GroupSnapshot;
  readonly seat: string;
}

export interface Configured {
  readonly record: ChangeRecord;
  /** Reason why the change is missing from the history. Null if the change was recorded. */
  readonly unrecorded: string | null;
}

/**
 * Writes the change. Returns its record, or null if the conditions for the change no longer hold. `at` is an
 * instant on the ensemble's clock. Throws StoreError.
 */
export async function configure(
  { store, snapshot, seat }: Turn,
  paths: GroupPaths,
  action: ConfigAction,
  at: string,
): Promise<Configured | null> {
  const config = snapshot.config.value;
  if (config === null) return null;
  const { reason, configVersion } = action;
  const what = action.do === 'pause' ? 'paused by the circuit breaker' : action.what;
  const record: ChangeRecord = { kind: 'change', by: 'petrel', what, reason, at };
  const data = Buffer.from(JSON.stringify(changed(config, action, at)));
  const done = await ifStillTrue(() =>
    withRecord(
      store,
      paths,
      [{ type: 'create', path: paths.historyPrefix, data: encode(record), mode: 'persistent-sequential' }],
      (also) =>
        store.multi([
          checkSeat(paths, seat),
          { type: 'set', path: paths.config, data, version: configVersion },
          ...also,
        ]),
    ),
  );
  return done === null ? null : { record, unrecorded: done.unrecorded };
}

export function logChange(log: Logger, action: ConfigAction, { record, unrecorded }: Configured): void {
  const { reason } = record;
  const what = `${record.what}${recordedText(unrecorded)}`;
  if (action.do === 'pause') log.error({ reason }, `${what}: ${reason}`);
  else if (action.do === 'drop-request') log.warn({ reason }, `${what}: ${reason}`);
  else log.info({ changes: action.changes }, `${what}: ${reason}`);
}

function changed(config: GroupConfig, action: ConfigAction, at: string): GroupConfig {
  if (action.do === 'change-sites') return withSites(config, action.changes);
  if (action.do === 'drop-request') return { ...config, switchover: null };
  return { ...config, paused: { by: 'the circuit breaker', reason: action.reason, at } };
}
