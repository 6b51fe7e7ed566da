/** One node in the foreground: from settings to an agent whose duty is the configured hooks, or one command. */
import type { Agent, AgentStatus } from '../agent/agent.js';
import { systemHost } from '../agent/process-life.js';
import { SessionFile } from '../agent/session-file.js';
import type { SessionMemory } from '../agent/session-memory.js';
import { checkAgent } from '../config/access-settings.js';
import { probeSettings } from '../config/probe-settings.js';
import type { AgentSettings } from '../config/settings.js';
import { storeOptions, tlsNote } from '../config/store-options.js';
import { PetrelError } from '../errors.js';
import { GuardianChannel } from '../guardian/channel.js';
import type { Hello } from '../guardian/messages.js';
import { guardianProcess } from '../guardian/parent-process.js';
import { checkHooks } from '../hooks/check-hooks.js';
import type { Command } from '../hooks/command.js';
import { CommandDuty, type HookCommands } from '../hooks/command-duty.js';
import { type HealthCheck, HealthProber } from '../hooks/health-prober.js';
import { systemKeepers } from '../hooks/keeper-process.js';
import { systemProcesses } from '../hooks/system-processes.js';
import type { HttpServer } from '../http/server.js';
import { NodeScores } from '../library/node-scores.js';
import { openAgent } from '../library/open-agent.js';
import { openProber } from '../library/open-prober.js';
import { isPretty, type Logger } from '../log.js';
import { loadStrategies } from '../own-strategies/load.js';
import { systemClock } from '../ports/clock.js';
import type { Duty } from '../ports/duty.js';
import type { Machine } from '../ports/processes.js';
import type { Prober } from '../probe/prober.js';
import { scoreCommands } from '../scores/source.js';
import { leaveWhenAsked } from './asked.js';
import { openHttp, reloadHttp } from './http.js';
import { type LiveSettings, type NodeSettings, Reload, type Rereading } from './reload.js';
import { openTracing } from './tracing.js';

const machine: Machine = { clock: systemClock, processes: systemProcesses };

/** What a node does when it leads. */
export interface Work {
  readonly commands: HookCommands;
  /** As `CommandDuty` has it. */
  readonly foreground: boolean;
  /** As `CommandDuty` has it. */
  readonly environment: Readonly<Record<string, string>>;
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
export async function runAgent(
  settings: AgentSettings,
  environment: Work['environment'],
  log: Logger,
  reread: Rereading,
): Promise<void> {
  const { onTakeover, onRelease, onFence, onPrepare } = settings;
  const commands = { onPrepare, onTakeover, onRelease, onFence };
  const work = {
    commands,
    foreground: false,
    environment,
    duty: (hooks: Duty) => hooks,
    begins() {},
    asked() {},
    codes: { codeAtDeath: null, codeWhenAsked: 'done' as const },
  };
  const memory = SessionFile.open(settings.stateDir, settings.root, settings.nodeId);
  await runNode(settings, memory, log, work, reread);
}

/**
 * Runs until the node has left: on SIGTERM and SIGINT it hands over and goes; a second one makes it not wait for a
 * successor. On SIGHUP it reads its settings anew. Throws PetrelError INVALID for a command that cannot be run and
 * an address for probes that cannot be listened at, and what `openHttp` and `Agent.run` throw.
 */
export async function runNode(
  settings: NodeSettings,
  sessionMemory: SessionMemory,
  log: Logger,
  work: Work,
  reread: Rereading,
): Promise<void> {
  const { commands, foreground, environment } = work;
  const { healthCheck, scores: sources } = settings;
  const { onTakeover, ...others } = commands;
  const main = foreground ? { 'the command': onTakeover } : { onTakeover };
  const problems = await checkHooks({ ...main, ...others, healthCheck, ...scoreCommands(sources) });
  if (problems.length > 0) {
    sessionMemory.close(false);
    throw new PetrelError('INVALID', 'there is something to run that cannot be run', { reasons: problems });
  }
  const strategies = await loadStrategies(settings.strategies);
  const { nodeId: node, root, site, priority, tags } = settings;
  const store = reach(settings, sessionMemory);
  const probes = await openProbes(settings, sessionMemory, log);
  const life = systemHost.newIncarnation();
  const parent = guardianProcess();
  const logForm = isPretty(settings.logFormat) ? 'pretty' : 'json';
  const hello = { node, root, log: logForm, ...work.codes } as const;
  const guardian = parent === null ? null : new GuardianChannel(parent, hello);
  const keepers = guardian?.keepers(systemKeepers) ?? systemKeepers;
  const hooks = new CommandDuty({
    commands,
    foreground,
    environment,
    node,
    root,
    life,
    log,
    ...machine,
    keepers,
  });
  const duty = work.duty(hooks);
  const auth = store.auth?.[0]?.credentials ?? null;
  const where = { servers: store.servers.servers, tls: tlsNote(store.tls), auth };
  const memory = guardian?.memory(sessionMemory, where) ?? sessionMemory;
  const agent = openAgent({
    store,
    root,
    node,
    site,
    priority,
    tags,
    strategies,
    probe: probes,
    sessionMemory: memory,
    duty,
    workload: 'outside',
    log,
  });
  const prober = watchHealth(settings, agent, log);
  const scores = new NodeScores({ sources, node, root, site, log });
  scores.begin(agent, probes === null ? undefined : () => probes.roundTrips());
  probes?.begin({ session: () => agent.session, requestsPerSecond: () => scores.requestsPerSecond });
  let http: HttpServer | null = null;
  const reload = new Reload({
    first: settings,
    reread,
    log,
    apply(live) {
      log.level = live.logLevel;
      agent.describe(live.priority, live.tags);
      scores.use(live.scores);
      if (live.healthCheck !== null) prober?.use(healthCheckOf(live, live.healthCheck));
    },
    done() {
      if (http !== null) reloadHttp(http, settings, log);
      guardian?.tellReloaded();
    },
  });
  agent.onStatus((status) => guardian?.tellStatus(status.joined, statusText(status, root)));
  const stopListening = leaveWhenAsked(agent, log, {
    guardian,
    asked: (signal) => work.asked(signal),
    reload: () => reload.begin(),
  });
  const tracing = await openTracing(agent, { root, node, site }, log);
  try {
    http = await openHttp(settings, agent, log).catch(async (error: unknown) => {
      await duty.close();
      memory.close(false);
      throw error;
    });
    work.begins(agent);
    await agent.run();
  } finally {
    await http?.close();
    stopListening();
    await Promise.all([prober?.close(), scores.close(), probes?.close(), tracing?.close()]);
  }
}

/** How the agent's sessions are opened. */
function reach(settings: NodeSettings, sessionMemory: SessionMemory) {
  try {
    checkAgent(settings);
    return { ...storeOptions(settings), sessionTimeoutMs: settings.sessionTimeoutMs };
  } catch (error) {
    sessionMemory.close(false);
    throw error;
  }
}

/** Null where the node does not probe. */
async function openProbes(
  settings: NodeSettings,
  sessionMemory: SessionMemory,
  log: Logger,
): Promise<Prober | null> {
  const { nodeId: node, root } = settings;
  try {
    return await openProber(probeSettings(settings), { node, root, log });
  } catch (error) {
    sessionMemory.close(false);
    throw error;
  }
}

function watchHealth(settings: NodeSettings, agent: Agent, log: Logger): HealthProber | null {
  const { healthCheck, nodeId: node, root, site } = settings;
  if (healthCheck === null) return null;
  const prober = new HealthProber({
    check: healthCheckOf(settings, healthCheck),
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

function healthCheckOf(settings: LiveSettings, command: Command): HealthCheck {
  return {
    command,
    intervalMs: settings.healthCheckIntervalMs,
    timeoutMs: settings.healthCheckTimeoutMs,
    failures: settings.healthCheckFailures,
  };
}

/** For people who look at the service. */
function statusText({ stage, term, joined, elector }: AgentStatus, root: string): string {
  if (stage === 'leading') return `leads ${root} in term ${term}`;
  if (stage === 'releasing' || stage === 'released') return `lets go of ${root}, term ${term}`;
  if (stage !== null) return `takes over ${root} in term ${term}`;
  if (!joined) return `is not in touch with ${root}`;
  return elector ? `stands by for ${root}, and elects` : `stands by for ${root}`;
}
