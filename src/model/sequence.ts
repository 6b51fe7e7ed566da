/**
 * Seats and their order. ZooKeeper's sequence is a signed 32-bit counter that wraps, so seats are compared in
 * serial number arithmetic (RFC 1982). The order is correct while all existing seats lie within 2^31 of each
 * other.
 */

export interface SeatName {
  /** Name of the znode under `election`. */
  readonly name: string;
  readonly node: string;
  readonly sequence: number;
}

/** ZooKeeper formats a sequence as `%010d`: ten characters, including a possible sign, or eleven. */
const seatPattern = /^(.*[A-Za-z0-9])-(\d{10}|-\d{9,10})$/;

/** Parses a seat's name. Null for any other name: an unrelated znode, which is left alone. */
export function parseSeatName(name: string): SeatName | null {
  const match = seatPattern.exec(name);
  const [, node, digits] = match ?? [];
  if (node === undefined || digits === undefined) return null;
  const sequence = Number(digits);
  return sequence === (sequence | 0) ? { name, node, sequence } : null;
}

/** Negative if `a` came before `b`. */
export function compareSequences(a: number, b: number): number {
  return (a - b) | 0;
}

/** Returns the seats among `names`, the elector's first. */
export function seatsInOrder(names: readonly string[]): SeatName[] {
  return names
    .map(parseSeatName)
    .filter((seat) => seat !== null)
    .sort((a, b) => compareSequences(a.sequence, b.sequence) || (a.name < b.name ? -1 : 1));
}

/** False if one of the names is not a seat. */
export function isLaterSeat(name: string, other: string): boolean {
  const [a, b] = [parseSeatName(name), parseSeatName(other)];
  return a !== null && b !== null && compareSequences(a.sequence, b.sequence) > 0;
}
