/**
 * The nodes on a ring. Each node knows the order of the nodes, and skips nodes that it believes to be dead.
 */
import type { Conditions } from './conditions.js';
import type { Random } from './random.js';

export class Ring {
  /** Node numbers, in the direction in which messages travel. */
  readonly #order: Int32Array;
  readonly #placeOf: Int32Array;

  constructor({ nodes, order }: Conditions, random: Random) {
    this.#order = Int32Array.from({ length: nodes }, (_, place) =>
      order === 'falling' ? nodes - 1 - place : place,
    );
    if (order === 'random') random.shuffle(this.#order);
    this.#placeOf = new Int32Array(nodes);
    for (const [place, node] of this.#order.entries()) this.#placeOf[node] = place;
  }

  /**
   * Returns the nearest node for which `isPassed` is false, in the given direction. Returns `node` itself if
   * there is no such node.
   */
  neighbour(node: number, direction: 1 | -1, isPassed: (other: number) => boolean): number {
    const { length } = this.#order;
    let place = this.#placeOf[node] ?? 0;
    for (let step = 1; step < length; step += 1) {
      place = (place + direction + length) % length;
      const other = this.#order[place] ?? node;
      if (!isPassed(other)) return other;
    }
    return node;
  }
}
