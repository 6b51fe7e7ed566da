/**
 * The signals that ask a guardian or its agent to leave. Both have the same input and outputs, so they agree.
 */
import { isatty } from 'node:tty';
import type { AskedSignal } from './messages.js';

/**
 * A terminal that is closed sends SIGHUP, and the process leaves. Other senders of SIGHUP want settings
 * reloaded.
 */
const hasTerminal = [0, 1, 2].some((fd) => isatty(fd));

export const leaveSignals: readonly AskedSignal[] = [
  'SIGTERM',
  'SIGINT',
  'SIGQUIT',
  ...(hasTerminal ? (['SIGHUP'] as const) : []),
];
