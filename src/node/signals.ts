/**
 * Handles requests to leave or to reload settings, for a node that runs in the foreground. The requests
 * arrive as signals, or from the node's guardian.
 */
import type { GuardianChannel } from '../guardian/channel.js';
import { leaveSignals } from '../guardian/leave-signals.js';
import { type HandledSignal, handledSignals } from '../guardian/messages.js';
import type { Logger } from '../log.js';

/**
 * A node that can leave all its groups. After a second call to `stop`, it no longer waits for a successor.
 */
export interface Leaving {
  stop(): void;
}

export interface SignalOptions {
  readonly guardian: GuardianChannel | null;
  /** Called when the node has received a request to leave. */
  signalled(signal: HandledSignal): void;
  /** Called when the settings must be reloaded. */
  reload(): void;
}

type Source = 'signal' | 'guardian' | 'parent';

/**
 * Handles signals until the returned function is called. From then on, signals are ignored, because a signal
 * could otherwise kill a process that is about to end normally.
 */
export function leaveOnSignal(
  agent: Leaving,
  log: Logger,
  { guardian, signalled, reload }: SignalOptions,
): () => void {
  const sources = new Set<Source>();
  let isOver = false;
  // A signal that is sent to a whole service reaches both the agent and the guardian. Therefore, only a
  // second request from the same source means that the node must leave faster.
  const leave = (signal: HandledSignal, source: Source) => {
    if (sources.size === 0 || sources.has(source)) {
      log.info({ signal }, `${signal}: leaving the group`);
      signalled(signal);
      agent.stop();
    }
    sources.add(source);
  };
  const receive = (signal: HandledSignal, source: Source) => {
    if (isOver) return;
    if (leaveSignals.includes(signal)) leave(signal, source);
    else reload();
  };
  for (const signal of handledSignals) process.on(signal, () => receive(signal, 'signal'));
  guardian?.listen({
    signalled: (signal) => receive(signal, 'guardian'),
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
