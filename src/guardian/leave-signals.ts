/**
 * The signals that make a guardian or its agent leave the group. Both processes share standard input, output
 * and error, so they interpret a signal in the same way.
 */
import { isatty } from 'node:tty';
import type { HandledSignal } from './messages.js';

/**
 * Whether the process has a terminal. When its terminal is closed, the process receives SIGHUP and leaves.
 * Without a terminal, SIGHUP is a request to reload settings.
 */
const hasTerminal = [0, 1, 2].some((fd) => isatty(fd));

export const leaveSignals: readonly HandledSignal[] = [
  'SIGTERM',
  'SIGINT',
  'SIGQUIT',
  ...(hasTerminal ? (['SIGHUP'] as const) : []),
];
