/** The workload of a node. */
import type { Agent } from '../agent/agent.js';
import type { AgentSettings } from '../config/settings.js';
import type { Hello } from '../guardian/messages.js';
import type { CommandWorkload, HookCommands } from '../hooks/command-workload.js';
import type { Workload } from '../ports/workload.js';

export interface NodeWorkload {
  readonly commands: HookCommands;
  /** As in `CommandWorkload`. */
  readonly foreground: boolean;
  /** As in `CommandWorkload`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Returns the agent's workload, built on the one that runs the commands. */
  workload(commands: CommandWorkload): Workload;
  /** Called when the agent is about to run. */
  begins(agent: Agent): void;
  /** Called when the node has been asked to leave. */
  asked(signal: NodeJS.Signals): void;
  /** Exit codes of its guardian for cases in which no agent can report one. */
  readonly codes: Pick<Hello, 'codeAtDeath' | 'codeWhenAsked'>;
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
    asked() {},
    codes: { codeAtDeath: null, codeWhenAsked: 'done' },
  };
}
