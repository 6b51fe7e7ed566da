/** A store, with a record of its reports to listeners and of its log entries. */

import type { Store, StoreError, StoreState } from '../../src/ports/store.js';
import { isStoreError } from '../../src/ports/store.js';
import { openStore, parseConnectionString, type StoreOptions } from '../../src/zookeeper/index.js';

export interface LogEntry {
  readonly level: string;
  readonly fields: object;
  readonly message: string;
}

export interface Probe extends AsyncDisposable {
  readonly store: Store;
  readonly states: StoreState[];
  readonly changes: string[];
  readonly logged: LogEntry[];
}

export type ProbeOptions = Partial<Omit<StoreOptions, 'servers' | 'logger'>>;

/** Opens a store without waiting for the connection. */
export function probe(connectString: string, options: ProbeOptions = {}): Probe {
  const [states, changes, logged]: [StoreState[], string[], LogEntry[]] = [[], [], []];
  const log = (level: string) => (fields: object, message: string) => logged.push({ level, fields, message });
  const store = openStore({
    servers: parseConnectionString(connectString),
    sessionTimeoutMs: 2000,
    ...options,
    logger: { debug: log('debug'), info: log('info'), warn: log('warn') },
  });
  store.onState((state) => states.push(state));
  store.onChange((path) => changes.push(path));
  const close = async () => {
    await store.close({ timeoutMs: 500 });
  };
  return { store, states, changes, logged, [Symbol.asyncDispose]: close };
}

/** Opens a store and waits for the connection. */
export async function connectedProbe(connectString: string, options: ProbeOptions = {}): Promise<Probe> {
  const opened = probe(connectString, options);
  await opened.store.connected({ timeoutMs: 10_000 });
  return opened;
}

/** Returns the error of a call that is expected to fail. */
export async function failureOf(call: Promise<unknown>): Promise<StoreError> {
  const outcome = await call.then(
    (value) => new Error('the call succeeded', { cause: value }),
    (error: unknown) => error,
  );
  if (isStoreError(outcome)) return outcome;
  throw outcome;
}
