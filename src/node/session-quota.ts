/**
 * Limits the number of groups per session. The limit depends on the total length of the paths that the
 * session owns in these groups.
 */
import { endBytes, endBytesOf, mostEndBytes } from './session-end.js';

export class SessionQuota {
  readonly #node: string;
  readonly #taken = new Map<string, number>();
  #bytes = endBytes;

  constructor(node: string) {
    this.#node = node;
  }

  /**
   * Reserves part of the quota for a group until `giveBack` is called. Returns null on success. Otherwise,
   * returns the reason why the quota is not sufficient.
   */
  take(root: string): string | null {
    if (this.#taken.has(root)) return null;
    const own = endBytesOf(root, this.#node);
    const bytes = this.#bytes + own;
    if (bytes > mostEndBytes)
      return (
        `with ${this.#taken.size} other groups, the paths of the session's znodes would total ${bytes} bytes, and ZooKeeper servers crash when a session ` +
        `with more than ${mostEndBytes} bytes ends: use shorter root paths, or run a second agent with another node id for some of the groups`
      );
    this.#taken.set(root, own);
    this.#bytes = bytes;
    return null;
  }

  giveBack(root: string): void {
    this.#bytes -= this.#taken.get(root) ?? 0;
    this.#taken.delete(root);
  }
}
