/** A command's session with ZooKeeper. The session is always closed, even if the command fails. */
import type { Command } from 'commander';
import { accessOf, identityOf } from '../config/access-settings.js';
import type { ClientSettings } from '../config/settings.js';
import { storeOptions } from '../config/store-options.js';
import { errorMessage, PetrelError } from '../errors.js';
import { checkSameAccess } from '../group/access.js';
import type { Author } from '../group/change.js';
import type { GroupAccess } from '../group/config-write.js';
import { createLogger } from '../log.js';
import { groupPaths } from '../model/paths.js';
import { loadRules } from '../own-strategies/load.js';
import { systemClock } from '../ports/clock.js';
import { isStoreError, type Store, type StoreError } from '../ports/store.js';
import { openStore, serverText, Unreachable, unreachableText } from '../zookeeper/index.js';
import { Interrupted } from './errors.js';
import { type ClientContext, readClientSettings, whoAmI } from './settings.js';
import { chosenRoot } from './which-group.js';

export interface Session {
  readonly settings: ClientSettings;
  readonly access: GroupAccess;
  /** Aborts on ^C and SIGTERM. */
  readonly signal: AbortSignal;
  author(reason: string | undefined): Author;
}

const sessionTimeoutMs = 10_000;
const closeTimeoutMs = 500;

/**
 * Runs `work` with a connected session, on the group that the settings name. Throws PetrelError INVALID if
 * the settings name several groups, and UNREACHABLE if no server responds in time. Throws Interrupted on ^C.
 * Also throws whatever `work` throws.
 */
export async function withSession<T>(command: Command, work: (session: Session) => Promise<T>): Promise<T> {
  const context = await readClientSettings(command);
  const { settings, described } = context;
  const sources = { flags: command.optsWithGlobals(), env: process.env };
  const root = await chosenRoot(settings.root, described, sources);
  return await inTouch({ ...context, settings: { ...settings, root } }, work);
}

/**
 * Runs `work` like `withSession`, for work that concerns either no group or many groups. Such work must not
 * use the paths in `access`, because the user has not chosen a group.
 */
export async function withEnsemble<T>(command: Command, work: (session: Session) => Promise<T>): Promise<T> {
  return await inTouch(await readClientSettings(command), work);
}

async function inTouch<T>(context: ClientContext, work: (session: Session) => Promise<T>): Promise<T> {
  const { settings } = context;
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const rules = await loadRules(settings);
  const store = open(context);
  try {
    const { signal } = interruption;
    return await unlessInterrupted(signal, async () => {
      await connect(store, settings, signal);
      const access = { store, paths: groupPaths(settings.root), rules, clock: systemClock };
      return work({
        settings,
        access,
        signal,
        author: (reason) => ({ by: whoAmI(), reason: reason ?? null }),
      });
    });
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await store.close({ timeoutMs: closeTimeoutMs });
  }
}

/** Throws PetrelError REFUSED if this process would create znodes that others could not read. */
export async function checkAccess({ access, settings }: Session): Promise<void> {
  const own = identityOf(settings);
  await checkSameAccess(access.store, access.paths, accessOf(settings, own), own);
}

function open({ settings, logLevel }: ClientContext): Store {
  const logger = createLogger({ level: logLevel, format: settings.logFormat });
  return openStore({
    ...storeOptions(settings),
    sessionTimeoutMs,
    callTimeoutMs: settings.connectTimeoutMs,
    logger,
  });
}

async function connect(store: Store, settings: ClientSettings, signal: AbortSignal): Promise<void> {
  const timeoutMs = settings.connectTimeoutMs;
  try {
    await store.connected({ timeoutMs, signal });
    // Wait until this server has received every change that other clients have committed so far.
    await store.sync('/', { timeoutMs, signal });
  } catch (error) {
    if (!isStoreError(error) || !error.outcomeUnknown) throw error;
    throw new PetrelError('UNREACHABLE', whyUnreachable(error, settings), { cause: error });
  }
}

function whyUnreachable(error: StoreError, settings: ClientSettings): string {
  const named = ' (--zookeeper, PETREL_ZOOKEEPER)';
  const { cause } = error;
  if (cause instanceof Unreachable)
    return unreachableText(cause.servers, { named, triedMs: settings.connectTimeoutMs });
  const tried = storeOptions(settings).servers.servers.map(serverText).join(', ');
  return `ZooKeeper is unreachable at ${tried}${named}: ${errorMessage(error)}`;
}

function unlessInterrupted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Interrupted('interrupted')));
    work().then(resolve, reject);
  });
}
