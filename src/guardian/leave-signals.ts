/**
 * The signals that make a guardian or its agent leave. Both processes have the same input and outputs, so
 * they interpret a signal in the same way.
 */
import { isatty } from 'node:tty';
import type { HandledSignal } from './messages.js';

/**
 * Whether the process has a terminal. When a terminal is closed, it sends SIGHUP and the process leaves.
 * Without a terminal, SIGHUP is a request to reload settings.
 */
const hasTerminal = [0, 1, 2].some((fd) => isatty(fd));

export const leaveSignals: readonly HandledSignal[] = [
  'SIGTERM',
  'SIGINT',
  'SIGQUIT',
  ...(hasTerminal ? (['SIGHUP'] as const) : []),
];
