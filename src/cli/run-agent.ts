/** One node in the foreground: from settings to an agent whose duty is the configured hooks. */
import { isatty } from 'node:tty';
import type { Agent } from '../agent/agent.js';
import { systemHost } from '../agent/process-life.js';
import type { AgentSettings } from '../config/settings.js';
import { storeOptions } from '../config/store-options.js';
import { PetrelError } from '../errors.js';
import { checkHooks } from '../hooks/check-hooks.js';
import { CommandDuty } from '../hooks/command-duty.js';
import { HealthProber } from '../hooks/health-prober.js';
import { systemKeepers } from '../hooks/keeper-process.js';
import { systemProcesses } from '../hooks/system-processes.js';
import { openAgent } from '../library/open-agent.js';
import type { Logger } from '../log.js';
import { systemClock } from '../ports/clock.js';
import type { Machine } from '../ports/processes.js';

const machine: Machine = { clock: systemClock, processes: systemProcesses };

/**
 * Runs until the node has left: on SIGTERM and SIGINT it hands over and goes; a second one makes it not wait for a
 * successor. Throws PetrelError INVALID for a hook that cannot be run, and what `Agent.run` throws.
 */
export async function runAgent(settings: AgentSettings, log: Logger): Promise<void> {
  const { onTakeover, onRelease, onFence, onPrepare, healthCheck } = settings;
  const commands = { onPrepare, onTakeover, onRelease, onFence };
  const problems = await checkHooks({ ...commands, healthCheck });
  if (problems.length > 0) {
    throw new PetrelError('INVALID', 'hooks cannot be run', { reasons: problems });
  }
  const { nodeId: node, root, site, priority, tags, stateDir } = settings;
  const life = systemHost.newIncarnation();
  const duty = new CommandDuty({ commands, node, root, life, log, ...machine, keepers: systemKeepers });
  const store = { ...storeOptions(settings), sessionTimeoutMs: settings.sessionTimeoutMs };
  let agent: Agent;
  try {
    agent = openAgent({ store, root, node, site, priority, tags, stateDir, duty, workload: 'outside', log });
  } catch (error) {
    await duty.close();
    throw error;
  }
  const prober = watchHealth(settings, agent, log);
  const stopListening = leaveOnSignals(agent, log);
  try {
    await agent.run();
  } finally {
    stopListening();
    await prober?.close();
  }
}

function watchHealth(settings: AgentSettings, agent: Agent, log: Logger): HealthProber | null {
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

/** A terminal that is closed sends SIGHUP and is left; others who send it want settings read anew. */
const hasTerminal = [0, 1, 2].some((fd) => isatty(fd));
const leaveSignals = ['SIGTERM', 'SIGINT', ...(hasTerminal ? (['SIGHUP'] as const) : [])] as const;

/** Started with a channel to a parent (`petrel dev`), it leaves when the parent is gone, too. */
function leaveOnSignals(agent: Agent, log: Logger): () => void {
  const leave = (signal: NodeJS.Signals) => {
    log.info({ signal }, `${signal}: leaving the group`);
    agent.stop();
  };
  const orphaned = () => agent.stop();
  const stay = () => log.info('SIGHUP: nothing happens, settings are read when an agent starts');
  for (const signal of leaveSignals) process.on(signal, leave);
  if (!hasTerminal) process.on('SIGHUP', stay);
  process.once('disconnect', orphaned);
  // Gone before this process listened; without a channel it is undefined.
  if (process.connected === false) orphaned();
  return () => {
    for (const signal of leaveSignals) process.off(signal, leave);
    process.off('SIGHUP', stay);
    process.off('disconnect', orphaned);
  };
}
