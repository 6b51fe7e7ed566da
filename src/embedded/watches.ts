/**
 * Watches: they record which client is notified of the next change to a znode. A watcher is a connection,
 * identified by a number. The watches of a connection end when the connection ends. A client sets a watch
 * when it reads a znode. A watch fires once, and reports only that something changed.
 */

import { ancestorsOf } from './paths.js';
import type { Change } from './tree.js';

export type EventType = 'created' | 'deleted' | 'dataChanged' | 'childrenChanged';
/**
 * `once` is the usual watch. `persistent` fires until the watch is removed. `recursive` is persistent and
 * covers the whole subtree.
 */
export type WatchMode = 'once' | 'persistent' | 'recursive';
export type WatchKind = 'data' | 'children';

export interface Notification {
  readonly watcher: number;
  readonly type: EventType;
  readonly path: string;
}

export class WatchTable {
  readonly #tables: Record<WatchKind, KindTable> = { data: new KindTable(), children: new KindTable() };

  get count(): number {
    return this.#tables.data.count + this.#tables.children.count;
  }

  add(kind: WatchKind, path: string, watcher: number, mode: WatchMode = 'once'): void {
    this.#tables[kind].add(path, watcher, mode);
  }

  has(kind: WatchKind | 'any', path: string, watcher: number): boolean {
    return this.#select(kind).some((table) => table.has(path, watcher));
  }

  /** Removes a watch. Returns false if there was none. */
  remove(kind: WatchKind | 'any', path: string, watcher: number): boolean {
    return this.#select(kind).filter((table) => table.remove(path, watcher)).length > 0;
  }

  removeWatcher(watcher: number): void {
    for (const table of this.#select('any')) table.removeWatcher(watcher);
  }

  /**
   * Returns the notifications for a change, in the order in which they must be sent. Removes one-time watches
   * that fire.
   */
  fire({ type, path }: Change): Notification[] {
    const { data, children } = this.#tables;
    const parent = path.slice(0, path.lastIndexOf('/')) || '/';
    const ofNode = data.fire(path, type);
    if (type === 'dataChanged') return notify(ofNode, type, path);
    const ofChildren = type === 'deleted' ? children.fire(path, type) : [];
    const ofParent = children.fire(parent, 'childrenChanged');
    return [
      // A connection that watches both data and children gets only one notification of a deletion.
      ...notify(new Set([...ofNode, ...ofChildren]), type, path),
      ...notify(ofParent, 'childrenChanged', parent),
    ];
  }

  #select(kind: WatchKind | 'any'): KindTable[] {
    return kind === 'any' ? Object.values(this.#tables) : [this.#tables[kind]];
  }
}

function notify(watchers: Iterable<number>, type: EventType, path: string): Notification[] {
  return [...watchers].map((watcher) => ({ watcher, type, path }));
}

/**
 * Watches of one kind. As in ZooKeeper, a watcher has at most one watch per path, with the mode that was set
 * last.
 */
class KindTable {
  readonly #byPath = new Map<string, Map<number, WatchMode>>();
  readonly #byWatcher = new Map<number, Set<string>>();
  /** Number of recursive watches. If it is 0, the ancestors of a changed znode need not be checked. */
  #recursive = 0;

  get count(): number {
    return [...this.#byPath.values()].reduce((sum, watchers) => sum + watchers.size, 0);
  }

  add(path: string, watcher: number, mode: WatchMode): void {
    const watchers = this.#byPath.get(path) ?? new Map<number, WatchMode>();
    if (mode === 'recursive') this.#recursive += 1;
    if (watchers.get(watcher) === 'recursive') this.#recursive -= 1;
    this.#byPath.set(path, watchers.set(watcher, mode));
    const paths = this.#byWatcher.get(watcher) ?? new Set<string>();
    this.#byWatcher.set(watcher, paths.add(path));
  }

  has(path: string, watcher: number): boolean {
    return this.#byPath.get(path)?.has(watcher) ?? false;
  }

  remove(path: string, watcher: number): boolean {
    const watchers = this.#byPath.get(path);
    const mode = watchers?.get(watcher);
    if (watchers === undefined || mode === undefined) return false;
    watchers.delete(watcher);
    if (mode === 'recursive') this.#recursive -= 1;
    if (watchers.size === 0) this.#byPath.delete(path);
    const paths = this.#byWatcher.get(watcher);
    paths?.delete(path);
    if (paths?.size === 0) this.#byWatcher.delete(watcher);
    return true;
  }

  removeWatcher(watcher: number): void {
    for (const path of [...(this.#byWatcher.get(watcher) ?? [])]) this.remove(path, watcher);
  }

  fire(path: string, type: EventType): number[] {
    const fired = new Set<number>();
    for (const [watcher, mode] of [...(this.#byPath.get(path) ?? [])]) {
      if (mode === 'recursive' && type === 'childrenChanged') continue;
      fired.add(watcher);
      if (mode === 'once') this.remove(path, watcher);
    }
    if (type !== 'childrenChanged') for (const watcher of this.#recursiveAbove(path)) fired.add(watcher);
    return [...fired];
  }

  *#recursiveAbove(path: string): Generator<number> {
    if (this.#recursive === 0) return;
    for (const ancestor of ancestorsOf(path)) {
      for (const [watcher, mode] of this.#byPath.get(ancestor) ?? []) if (mode === 'recursive') yield watcher;
    }
  }
}
