/**
 * Parses the output of the benchmark's contenders, which consists of one line per event:
 *
 *     leads NAME CLOCK SECONDS      it leads: its callback, or its takeover hook, has begun
 *     leaves NAME CLOCK SECONDS     it is about to release leadership
 *     released NAME CLOCK SECONDS   its work, or its release hook, has ended
 *
 * CLOCK is `monotonic` (CLOCK_MONOTONIC, one for all processes of a machine), or `epoch` where the monotonic
 * clock is not available. A program with many participants accepts `join NAME` and `leave NAME` on its input.
 * On SIGTERM, all its participants leave, and the program exits.
 */

export interface Said {
  readonly what: 'leads' | 'leaves' | 'released';
  readonly name: string;
  readonly clock: 'monotonic' | 'epoch';
  readonly atMs: number;
}

const pattern =
  /^(?<what>leads|leaves|released) (?<name>\S+) (?<clock>monotonic|epoch) (?<seconds>\d+\.\d{1,9})$/;

/** Parses a line. Returns null for a line that does not report an event. */
export function parseLine(line: string): Said | null {
  const { what, name = '', clock, seconds } = pattern.exec(line.trim())?.groups ?? {};
  if (what !== 'leads' && what !== 'leaves' && what !== 'released') return null;
  if (clock !== 'monotonic' && clock !== 'epoch') return null;
  return { what, name, clock, atMs: Number(seconds) * 1000 };
}
