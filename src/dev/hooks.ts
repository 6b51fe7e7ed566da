/**
 * Hooks of a development group that write down when they start and end, and wait or fail when told to: files
 * in one directory, so that whoever looks on needs nothing of the agents. When the directory is gone nothing
 * waits any more.
 */
import { type FSWatcher, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const hookPhases = ['prepare', 'takeover', 'release'] as const;
export type HookPhase = (typeof hookPhases)[number];

export interface HookEvent {
  readonly node: string;
  readonly phase: HookPhase;
  readonly event: 'started' | 'failed' | 'ended';
  /** Fencing token; 0 where there is none yet. */
  readonly token: bigint;
  readonly pid: number;
}

/**
 * A takeover's command is run before it waits, what others run after: its work is there while the hook runs.
 */
const script = `#!/bin/sh
# PHASE [COMMAND...]
dir=\${0%/*} phase=$1
shift
note() { echo "$PETREL_NODE $phase $1 \${PETREL_FENCING_TOKEN:-0} $$" >>"$dir/events"; }
wait_here() {
  note started
  while [ -e "$dir/hold.$PETREL_NODE.$phase" ]; do sleep 0.02; done
}
[ "$phase" != takeover ] || { "$@" && wait_here || exit; }
[ "$phase" = takeover ] || { wait_here && "$@" || exit; }
if [ -e "$dir/fail.$PETREL_NODE.$phase" ]; then
  note failed
  exit 1
fi
note ended
`;

export class DevHooks implements Disposable {
  readonly #dir: string;
  readonly #events: string;
  readonly #watcher: FSWatcher;
  readonly #listeners = new Set<(event: HookEvent) => void>();
  #read = 0;

  /** In a directory of its own, which exists. */
  constructor(dir: string) {
    this.#dir = dir;
    this.#events = join(dir, 'events');
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'hook'), script, { mode: 0o755 });
    writeFileSync(this.#events, '');
    this.#watcher = watch(this.#events, () => this.catchUp());
  }

  /** The hook as a line for the shell; `command` is run as part of it. */
  command(phase: HookPhase, command = 'true'): string {
    return `'${join(this.#dir, 'hook')}' ${phase} ${command}`;
  }

  onEvent(listener: (event: HookEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** From its next start on it does not end; one that runs ends when it is let go. */
  hold(node: string, phase: HookPhase): void {
    writeFileSync(join(this.#dir, `hold.${node}.${phase}`), '');
  }

  endLeadership(node: string, phase: HookPhase): void {
    rmSync(join(this.#dir, `hold.${node}.${phase}`), { force: true });
  }

  fail(node: string, phase: HookPhase, fails: boolean): void {
    const file = join(this.#dir, `fail.${node}.${phase}`);
    if (fails) writeFileSync(file, '');
    else rmSync(file, { force: true });
  }

  [Symbol.dispose](): void {
    this.#watcher.close();
  }

  /** Tells of all that is written down by now, without waiting to be told that something is. */
  catchUp(): void {
    const lines = readFileSync(this.#events, 'utf8').split('\n').slice(0, -1);
    for (const line of lines.slice(this.#read)) {
      this.#read += 1;
      const event = parseEvent(line);
      if (event !== null) for (const listener of this.#listeners) listener(event);
    }
  }
}

function parseEvent(line: string): HookEvent | null {
  const [node = '', phaseText, eventText, token = '', pid] = line.split(' ');
  const phase = hookPhases.find((one) => one === phaseText);
  const event = (['started', 'failed', 'ended'] as const).find((one) => one === eventText);
  if (phase === undefined || event === undefined) return null;
  return { node, phase, event, token: BigInt(token), pid: Number(pid) };
}
