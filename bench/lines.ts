/**
 * What the benchmark's contenders print, one line each:
 *
 *     leads NAME CLOCK SECONDS      it leads: its callback, or its takeover hook, has begun
 *     leaves NAME CLOCK SECONDS     it is about to give leadership up
 *     released NAME CLOCK SECONDS   its work, or its release hook, has ended
 *
 * CLOCK is `monotonic` (CLOCK_MONOTONIC, one for all processes of a machine) or `epoch`, where that cannot be
 * had. A program that holds many participants obeys `join NAME` and `leave NAME` on its input; SIGTERM has
 * all of them leave, and ends it.
 */

export interface Said {
  readonly what: 'leads' | 'leaves' | 'released';
  readonly name: string;
  readonly clock: 'monotonic' | 'epoch';
  readonly atMs: number;
}

const pattern =
  /^(?<what>leads|leaves|released) (?<name>\S+) (?<clock>monotonic|epoch) (?<seconds>\d+\.\d{1,9})$/;

/** Null: something else, which programs print beside it. */
export function parseLine(line: string): Said | null {
  const { what, name = '', clock, seconds } = pattern.exec(line.trim())?.groups ?? {};
  if (what !== 'leads' && what !== 'leaves' && what !== 'released') return null;
  if (clock !== 'monotonic' && clock !== 'epoch') return null;
  return { what, name, clock, atMs: Number(seconds) * 1000 };
}
