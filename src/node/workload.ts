/** What a node does when it leads. */
import type { Agent } from '../agent/agent.js';
import type { AgentSettings } from '../config/settings.js';
import type { Hello } from '../guardian/messages.js';
import type { CommandWorkload, HookCommands } from '../hooks/command-workload.js';
import type { Workload } from '../ports/workload.js';

export interface NodeWorkload {
  readonly commands: HookCommands;
  /** As `CommandWorkload` has it. */
  readonly foreground: boolean;
  /** As `CommandWorkload` has it. */
  readonly environment: Readonly<Record<string, string>>;
  /** The agent's workload, made of the one that runs the commands. */
  workload(commands: CommandWorkload): Workload;
  /** The agent is about to run. */
  begins(agent: Agent): void;
  /** Told to leave, which it will. */
  asked(signal: NodeJS.Signals): void;
  /** What its guardian exits with when there is no agent to tell. */
  readonly codes: Pick<Hello, 'codeAtDeath' | 'codeWhenAsked'>;
}

/** The hooks of the settings. */
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
