/**
 * Tracks which node each live node considers the leader. From this, it computes whether, and for how long,
 * all nodes agree on one leader. It also computes how many nodes consider themselves the leader.
 */

/**
 * Recorded for a node that knows only that some other node is the leader. This contradicts no other record.
 */
export const somebodyElse = -2;
/** Recorded for a node that knows of no leader. */
export const nobody = -1;

export class Census {
  readonly #leaderOf: Int32Array;
  readonly #isLive: Uint8Array;
  /** For each node, the number of live nodes that consider it the leader. */
  readonly #followers: Int32Array;
  #live = 0;
  #unsure = 0;
  #elsewhere = 0;
  /**
   * Number of live nodes that consider themselves the leader, and the sum of their node numbers. If there is
   * one leader, the sum is the number of that leader.
   */
  #leaders = 0;
  #sumOfLeaders = 0;
  #lastAt = 0;
  #agreedSince: number | null = null;
  #agreedTicks = 0;
  #leadersTicks = 0;
  #mostLeaders = 0;
  #breaks = 0;

  constructor(n: number) {
    this.#leaderOf = new Int32Array(n).fill(nobody);
    this.#isLive = new Uint8Array(n);
    this.#followers = new Int32Array(n);
  }

  get live(): number {
    return this.#live;
  }

  /** The one leader that all live nodes agree on. Null if there is none. */
  get agreed(): number | null {
    if (this.#leaders !== 1 || this.#unsure > 0) return null;
    const leader = this.#sumOfLeaders;
    return (this.#followers[leader] ?? 0) + this.#elsewhere === this.#live ? leader : null;
  }

  /** Instant at which the current agreement of all nodes began, in ticks. Null if they do not agree. */
  get agreedSince(): number | null {
    return this.#agreedSince;
  }

  /**
   * Number of agreements that have ended. Agreements that ended at the instant when they began are not
   * counted.
   */
  get breaks(): number {
    return this.#breaks;
  }

  /** Number of nodes that follow the live node with the highest number, excluding that node itself. */
  get followersOfHighest(): number {
    const highest = this.#isLive.lastIndexOf(1);
    return (this.#followers[highest] ?? 0) - (this.#leaderOf[highest] === highest ? 1 : 0);
  }

  /** Number of live nodes that consider a dead node the leader. */
  get misled(): number {
    return this.#followers.reduce((sum, count, leader) => sum + (this.isLive(leader) ? 0 : count), 0);
  }

  /** Returns the largest number of simultaneous leaders since the last call. */
  takeMostLeaders(): number {
    const most = Math.max(this.#mostLeaders, this.#leaders);
    this.#mostLeaders = this.#leaders;
    return most;
  }

  leaderOf(node: number): number {
    return this.#leaderOf[node] ?? nobody;
  }

  isLive(node: number): boolean {
    return this.#isLive[node] === 1;
  }

  enter(node: number, at: number): void {
    this.#change(at, () => {
      this.#isLive[node] = 1;
      this.#leaderOf[node] = nobody;
      this.#count(node, 1);
    });
  }

  leave(node: number, at: number): void {
    this.#change(at, () => {
      this.#count(node, -1);
      this.#isLive[node] = 0;
    });
  }

  follow(node: number, leader: number, at: number): void {
    if (!this.isLive(node) || this.#leaderOf[node] === leader) return;
    this.#change(at, () => {
      this.#count(node, -1);
      this.#leaderOf[node] = leader;
      this.#count(node, 1);
    });
  }

  /**
   * Returns the share of time in which not all nodes agreed, and the mean number of leaders. Both are
   * measured from instant 0.
   */
  shares(at: number): { readonly disagreement: number; readonly leaders: number } {
    const total = Math.max(at, 1);
    return { disagreement: 1 - this.agreedTicks(at) / total, leaders: this.#leadersTicks / total };
  }

  /** Returns the total time since instant 0 during which all nodes agreed, in ticks. */
  agreedTicks(at: number): number {
    this.#pass(at);
    return this.#agreedTicks;
  }

  #count(node: number, by: 1 | -1): void {
    const leader = this.leaderOf(node);
    this.#live += by;
    if (leader === nobody) this.#unsure += by;
    else if (leader === somebodyElse) this.#elsewhere += by;
    else this.#followers[leader] = (this.#followers[leader] ?? 0) + by;
    if (leader !== node) return;
    this.#leaders += by;
    this.#sumOfLeaders += by * node;
  }

  #change(at: number, make: () => void): void {
    this.#pass(at);
    make();
    this.#mostLeaders = Math.max(this.#mostLeaders, this.#leaders);
    if (this.agreed === null) {
      if (this.#agreedSince !== null && this.#agreedSince < at) this.#breaks += 1;
      this.#agreedSince = null;
    } else this.#agreedSince ??= at;
  }

  #pass(at: number): void {
    const passed = at - this.#lastAt;
    this.#lastAt = at;
    this.#leadersTicks += passed * this.#leaders;
    if (this.#agreedSince !== null) this.#agreedTicks += passed;
  }
}
