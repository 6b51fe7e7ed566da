/**
 * Seats and their order. ZooKeeper's sequence number is a signed 32-bit counter that wraps around, so seats
 * are compared by serial number arithmetic (RFC 1982). The order is correct as long as all existing seats are
 * within 2^31 of each other.
 */

export interface SeatName {
  /** Name of the znode under `election`. */
  readonly name: string;
  readonly node: string;
  readonly sequence: number;
}

/**
 * Matches the name of an election znode. ZooKeeper formats a sequence number as `%010d`. The result has ten
 * characters, or eleven if the number is negative and has ten digits.
 */
const seatPattern = /^(.*[A-Za-z0-9])-(\d{10}|-\d{9,10})$/;

/**
 * Parses a seat's name. Returns null for any other name. Such a name belongs to an unrelated znode, which
 * Petrel does not touch.
 */
export function parseSeatName(name: string): SeatName | null {
  const match = seatPattern.exec(name);
  const [, node, digits] = match ?? [];
  if (node === undefined || digits === undefined) return null;
  const sequence = Number(digits);
  return sequence === (sequence | 0) ? { name, node, sequence } : null;
}

/** Returns a negative number if `a` came before `b`. */
export function compareSequences(a: number, b: number): number {
  return (a - b) | 0;
}

/** Returns the seats among `names` in order. The elector's seat comes first. */
export function seatsInOrder(names: readonly string[]): SeatName[] {
  return names
    .map(parseSeatName)
    .filter((seat) => seat !== null)
    .sort((a, b) => compareSequences(a.sequence, b.sequence) || (a.name < b.name ? -1 : 1));
}

/** Whether the seat `name` is later than `other`. False if either name is not the name of a seat. */
export function isLaterSeat(name: string, other: string): boolean {
  const [a, b] = [parseSeatName(name), parseSeatName(other)];
  return a !== null && b !== null && compareSequences(a.sequence, b.sequence) > 0;
}
