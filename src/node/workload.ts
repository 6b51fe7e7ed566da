/** The type of a node's workload, and the workload that consists of hooks. */
import type { Agent } from '../agent/agent.js';
import type { AgentSettings } from '../config/settings.js';
import type { Hello } from '../guardian/messages.js';
import type { CommandWorkload, HookCommands } from '../hooks/command-workload.js';
import type { Workload } from '../ports/workload.js';

export interface NodeWorkload {
  readonly commands: HookCommands;
  /** Whether the takeover command is itself the workload, as in `CommandWorkload`. */
  readonly foreground: boolean;
  /** Environment variables for commands, as in `CommandWorkload`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Returns the agent's workload, which wraps the workload that runs the commands. */
  workload(commands: CommandWorkload): Workload;
  /** Called immediately before the agent runs. */
  begins(agent: Agent): void;
  /** Called when the node has received a request to leave. */
  signalled(signal: NodeJS.Signals): void;
  /** Exit codes that the node's guardian uses if no agent can report one. */
  readonly codes: Pick<Hello, 'codeAtDeath' | 'codeOnSignal'>;
}

/** Returns a workload that consists of the hooks in the settings. */
export function hookWorkload(
  settings: AgentSettings,
  environment: NodeWorkload['environment'],
): NodeWorkload {
  const { onTakeover, onRelease, onFence, onPrepare } = settings;
  return {
    commands: { onPrepare, onTakeover, onRelease, onFence },
    foreground: false,
    environment,
    workload: (hooks) => hooks,
    begins() {},
    signalled() {},
    codes: { codeAtDeath: null, codeOnSignal: 'done' },
  };
}
