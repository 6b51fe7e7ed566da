/** One node in the foreground: from settings to an agent whose duty is the configured hooks, or one command. */
import type { Agent } from '../agent/agent.js';
import { systemHost } from '../agent/process-life.js';
import { SessionFile } from '../agent/session-file.js';
import type { SessionMemory } from '../agent/session-memory.js';
import type { AgentSettings } from '../config/settings.js';
import { storeOptions, tlsNote } from '../config/store-options.js';
import { PetrelError } from '../errors.js';
import { GuardianChannel, type Hello } from '../guardian/channel.js';
import { guardianProcess } from '../guardian/parent-process.js';
import { checkHooks } from '../hooks/check-hooks.js';
import { CommandDuty, type HookCommands } from '../hooks/command-duty.js';
import { HealthProber } from '../hooks/health-prober.js';
import { systemKeepers } from '../hooks/keeper-process.js';
import { systemProcesses } from '../hooks/system-processes.js';
import { openAgent } from '../library/open-agent.js';
import { isPretty, type Logger } from '../log.js';
import { systemClock } from '../ports/clock.js';
import type { Duty } from '../ports/duty.js';
import type { Machine } from '../ports/processes.js';
import { leaveWhenAsked } from './asked.js';

export const machine: Machine = { clock: systemClock, processes: systemProcesses };

/** What a node does when it leads. */
export interface Work {
  readonly commands: HookCommands;
  /** As `CommandDuty` has it. */
  readonly foreground: boolean;
  /** The agent's duty, made of the one that runs the commands. */
  duty(commands: CommandDuty): Duty;
  /** The agent is about to run. */
  begins(agent: Agent): void;
  /** Told to leave, which it will. */
  asked(signal: NodeJS.Signals): void;
  /** What its guardian exits with when there is no agent to tell. */
  readonly codes: Pick<Hello, 'codeAtDeath' | 'codeWhenAsked'>;
}

/** Runs a node whose work is its hooks, as `runNode` does. Throws also what opening a `SessionFile` does. */
export async function runAgent(settings: AgentSettings, log: Logger): Promise<void> {
  const { onTakeover, onRelease, onFence, onPrepare } = settings;
  const commands = { onPrepare, onTakeover, onRelease, onFence };
  const work = {
    commands,
    foreground: false,
    duty: (hooks: Duty) => hooks,
    begins() {},
    asked() {},
    codes: { codeAtDeath: null, codeWhenAsked: 'done' as const },
  };
  await runNode(settings, SessionFile.open(settings.stateDir, settings.root, settings.nodeId), log, work);
}

export type NodeSettings = Omit<AgentSettings, 'onTakeover' | 'onRelease' | 'onPrepare' | 'onFence'>;

/**
 * Runs until the node has left: on SIGTERM and SIGINT it hands over and goes; a second one makes it not wait for a
 * successor. Throws PetrelError INVALID for a command that cannot be run, and what `Agent.run` throws.
 */
export async function runNode(
  settings: NodeSettings,
  sessionMemory: SessionMemory,
  log: Logger,
  work: Work,
): Promise<void> {
  const { commands, foreground } = work;
  const problems = await checkHooks({ ...commands, healthCheck: settings.healthCheck });
  if (problems.length > 0) {
    sessionMemory.close(false);
    throw new PetrelError('INVALID', 'hooks cannot be run', { reasons: problems });
  }
  const { nodeId: node, root, site, priority, tags } = settings;
  const life = systemHost.newIncarnation();
  const parent = guardianProcess();
  const logForm = isPretty(settings.logFormat) ? 'pretty' : 'json';
  const hello = { node, root, log: logForm, ...work.codes } as const;
  const guardian = parent === null ? null : new GuardianChannel(parent, hello);
  const keepers = guardian?.keepers(systemKeepers) ?? systemKeepers;
  const hooks = new CommandDuty({ commands, foreground, node, root, life, log, ...machine, keepers });
  const duty = work.duty(hooks);
  const store = { ...storeOptions(settings), sessionTimeoutMs: settings.sessionTimeoutMs };
  const where = { servers: store.servers.servers, tls: tlsNote(store.tls) };
  const agent = openAgent({
    store,
    root,
    node,
    site,
    priority,
    tags,
    sessionMemory: guardian?.memory(sessionMemory, where) ?? sessionMemory,
    duty,
    workload: 'outside',
    log,
  });
  const prober = watchHealth(settings, agent, log);
  const stopListening = leaveWhenAsked(agent, log, { guardian, asked: (signal) => work.asked(signal) });
  work.begins(agent);
  try {
    await agent.run();
  } finally {
    stopListening();
    await prober?.close();
  }
}

function watchHealth(settings: NodeSettings, agent: Agent, log: Logger): HealthProber | null {
  const { healthCheck, nodeId: node, root, site } = settings;
  if (healthCheck === null) return null;
  const prober = new HealthProber({
    command: healthCheck,
    intervalMs: settings.healthCheckIntervalMs,
    timeoutMs: settings.healthCheckTimeoutMs,
    failures: settings.healthCheckFailures,
    node,
    root,
    site,
    log,
    ...machine,
  });
  agent.setHealth(prober.health.healthy, prober.health.reason);
  prober.onChange(({ healthy, reason }) => agent.setHealth(healthy, reason));
  return prober;
}
