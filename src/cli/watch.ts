/** The option `--watch`: prints the result of a command on every change and at regular intervals. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import type { OutputFormat } from '../config/settings.js';
import { PetrelError } from '../errors.js';
import { follow } from '../group/follow.js';
import { KeptClock } from '../group/time.js';
import { type GroupView, readGroup } from '../group/view.js';
import { isStoreError } from '../ports/store.js';
import { Interrupted, reportError } from './errors.js';
import { stdoutLost } from './outlet.js';
import { isForPeople, type Printable, prettyText, print, printLine } from './output.js';
import { type Session, withSession } from './session.js';
import { styled } from './style.js';

/**
 * Formats the current state of the group. `nowMs` is in milliseconds since the epoch, on the ensemble's
 * clock.
 */
export type Draw = (view: GroupView, nowMs: number, session: Session) => Promise<Printable>;

const defaultSeconds = 2;

export function watchOption(): Option {
  return new Option(
    '-w, --watch [seconds]',
    `refresh on every change, and every [seconds] (default: ${defaultSeconds})`,
  ).argParser(positiveSeconds);
}

function positiveSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds >= 0.1 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('Expected a number of seconds from 0.1 to 86400.');
}

const watchSchema = z.object({ watch: z.union([z.number(), z.literal(true)]).optional() });

/**
 * Prints the result once. With `--watch`, prints it repeatedly until the user presses ^C or the output is
 * closed.
 */
export async function show(command: Command, draw: Draw): Promise<void> {
  const { watch } = watchSchema.parse(command.opts());
  if (watch === undefined) return withSession(command, (session) => showOnce(session, draw));
  const everyMs = (watch === true ? defaultSeconds : watch) * 1000;
  let shown = false;
  while (!stdoutLost.aborted) {
    try {
      await withSession(command, (session) =>
        showOnChange(session, everyMs, async (view, nowMs) => {
          const result = await draw(view, nowMs, session);
          shown = true;
          return result;
        }),
      );
    } catch (error) {
      if (error instanceof Interrupted) return;
      if (!shown || !isOutOfReach(error)) throw error;
      reportError(error, null);
    }
  }
}

async function showOnce(session: Session, draw: Draw): Promise<void> {
  const { store, clock } = session.access;
  const view = await readGroup(session.access, { scores: true });
  const nowMs = await new KeptClock(clock).nowMs(store, view);
  print(session.settings.format, await draw(view, nowMs, session));
}

async function showOnChange(session: Session, everyMs: number, draw: Draw): Promise<void> {
  const { store, clock } = session.access;
  const { format } = session.settings;
  const unlisten = store.onState((state) => {
    if (state === 'SUSPENDED') process.stderr.write('petrel: connection to ZooKeeper lost, reconnecting\n');
  });
  const kept = new KeptClock(clock);
  let printed = { content: '', atMs: clock.monotonicMs() };
  const nextLookInMs = () => printed.atMs + everyMs - clock.monotonicMs();
  const signal = AbortSignal.any([session.signal, stdoutLost]);
  const when = { watch: 'all', nextLookInMs, signal } as const;
  try {
    for await (const view of follow(session.access, when)) {
      const atMs = clock.monotonicMs();
      const result = await draw(view, await kept.nowMs(store, view), session);
      const content = JSON.stringify(result.json);
      // Skip unchanged content. Otherwise, lease renewals would cause output several times a second.
      if (content === printed.content && atMs - printed.atMs < everyMs) continue;
      printed = { content, atMs };
      if (process.stdout.isTTY && isForPeople(format)) redraw(format, result, everyMs);
      else printLine(format, result);
    }
  } finally {
    unlisten();
  }
}

const clearScreen = '\u001B[H\u001B[2J';

function redraw(format: OutputFormat, result: Printable, everyMs: number): void {
  const note = styled('dim', `Refreshed on every change and every ${everyMs / 1000} s. Ctrl-C quits`);
  process.stdout.write(`${clearScreen}${note}\n\n${prettyText(format, result)}\n`);
}

function isOutOfReach(error: unknown): boolean {
  if (error instanceof PetrelError) return error.code === 'UNREACHABLE';
  return isStoreError(error) && error.outcomeUnknown;
}
