/**
 * Hooks of a development group. They record when they start and end, and they wait or fail on request. They
 * communicate through files in one directory, so observers need no access to the agents. If the directory is
 * removed, hooks no longer wait.
 */
import { type FSWatcher, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const hookPhases = ['prepare', 'takeover', 'release'] as const;
export type HookPhase = (typeof hookPhases)[number];

export interface HookEvent {
  readonly node: string;
  readonly phase: HookPhase;
  readonly event: 'started' | 'failed' | 'ended';
  /** Fencing token. 0 if there is no token yet. */
  readonly token: bigint;
  readonly pid: number;
}

/**
 * Script of the hooks. A takeover hook runs its command before it waits. The other hooks run their commands
 * after they have waited. The workload is therefore running while a takeover or release hook waits.
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

  /** Uses this directory, and creates it if necessary. The directory must not be used for anything else. */
  constructor(dir: string) {
    this.#dir = dir;
    this.#events = join(dir, 'events');
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'hook'), script, { mode: 0o755 });
    writeFileSync(this.#events, '');
    this.#watcher = watch(this.#events, () => this.catchUp());
  }

  /** Returns a shell command line that runs the hook. The hook runs `command`. */
  command(phase: HookPhase, command = 'true'): string {
    return `'${join(this.#dir, 'hook')}' ${phase} ${command}`;
  }

  onEvent(listener: (event: HookEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Makes this hook wait, starting with its next run. `resume` lets it end. */
  hold(node: string, phase: HookPhase): void {
    writeFileSync(join(this.#dir, `hold.${node}.${phase}`), '');
  }

  resume(node: string, phase: HookPhase): void {
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

  /** Emits all recorded events now, without waiting for the file watcher. */
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
