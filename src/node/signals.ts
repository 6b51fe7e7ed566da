/**
 * How a node in the foreground is told to leave or to read its settings anew: by signals, or by its guardian.
 */
import type { GuardianChannel } from '../guardian/channel.js';
import { leaveSignals } from '../guardian/leave-signals.js';
import { type AskedSignal, askedSignals } from '../guardian/messages.js';
import type { Logger } from '../log.js';

/** What leaves, with all that it is in. Asked again, it waits for nobody. */
export interface Leaving {
  stop(): void;
}

export interface Askers {
  readonly guardian: GuardianChannel | null;
  /** Told to leave, which it will. */
  asked(signal: AskedSignal): void;
  /** Settings are to be read anew. */
  reload(): void;
}

type Source = 'signal' | 'guardian' | 'parent';

/**
 * Until the returned function is called. From then on signals do nothing: a process that is about to end in
 * order would die of them.
 */
export function leaveOnSignal(agent: Leaving, log: Logger, { guardian, asked, reload }: Askers): () => void {
  const askedBy = new Set<Source>();
  let isOver = false;
  // A signal to a whole service reaches agent and guardian: who asks twice is in a hurry, not who is joined
  // by another.
  const leave = (signal: AskedSignal, source: Source) => {
    if (askedBy.size === 0 || askedBy.has(source)) {
      log.info({ signal }, `${signal}: leaving the group`);
      asked(signal);
      agent.stop();
    }
    askedBy.add(source);
  };
  const hear = (signal: AskedSignal, source: Source) => {
    if (isOver) return;
    if (leaveSignals.includes(signal)) leave(signal, source);
    else reload();
  };
  for (const signal of askedSignals) process.on(signal, () => hear(signal, 'signal'));
  guardian?.listen({
    asked: (signal) => hear(signal, 'guardian'),
    gone: () => {
      log.error('the guardian died: leaving the group at once');
      agent.stop();
      agent.stop();
    },
  });
  return () => {
    isOver = true;
    guardian?.close();
  };
}
