/**
 * One of the groups that a node is in: the agent for that group, the agent's workload, and the node's
 * measurements and reports.
 */
import type { Rules } from '../../strategies/registry.js';
import type { Agent, AgentStatus } from '../agent/agent.js';
import type { TokenStore } from '../agent/leadership/token-memory.js';
import type { Membership } from '../agent/session/shared-session.js';
import { PetrelError } from '../errors.js';
import { checkHooks } from '../hooks/check-hooks.js';
import type { Command } from '../hooks/command.js';
import { CommandWorkload } from '../hooks/command-workload.js';
import { type HealthCheck, HealthProber } from '../hooks/health-prober.js';
import type { Supervisors } from '../hooks/supervisors.js';
import { systemProcesses } from '../hooks/system-processes.js';
import type { Logger } from '../log.js';
import { systemClock } from '../ports/clock.js';
import type { Machine } from '../ports/processes.js';
import type { Workload } from '../ports/workload.js';
import type { Prober } from '../probe/prober.js';
import { scoreCommands } from '../scores/source.js';
import { NodeScores } from './node-scores.js';
import { type NodeOptions, openAgent } from './open-agent.js';
import type { LiveSettings, NodeSettings } from './reload.js';
import { openTracing, type Tracing } from './tracing.js';
import type { NodeWorkload } from './workload.js';

const machine: Machine = { clock: systemClock, processes: systemProcesses };

export interface NodeGroupOptions {
  readonly settings: NodeSettings;
  readonly work: NodeWorkload;
  readonly store: NodeOptions['store'];
  readonly membership: Membership;
  readonly tokenStore: TokenStore;
  readonly supervisors: Supervisors;
  /** Unique name of this incarnation of the agent. */
  readonly incarnation: string;
  readonly rules: Rules;
  readonly probes: Prober | null;
  readonly log: Logger;
}

/** Checks the configured commands. Throws PetrelError INVALID for a command that cannot be executed. */
export async function checkCommands(
  settings: NodeSettings,
  { commands, foreground }: NodeWorkload,
): Promise<void> {
  const { healthCheck, scores: sources } = settings;
  const { onTakeover, ...others } = commands;
  const main = foreground ? { 'the command': onTakeover } : { onTakeover };
  const problems = await checkHooks({ ...main, ...others, healthCheck, ...scoreCommands(sources) });
  if (problems.length === 0) return;
  throw new PetrelError('INVALID', 'some configured commands cannot be executed', { reasons: problems });
}

export class NodeGroup {
  readonly agent: Agent;
  readonly site: string;
  readonly root: string;
  readonly #options: NodeGroupOptions;
  readonly #workload: Workload;
  readonly #health: HealthProber | null;
  readonly #scores: NodeScores;
  #tracing: Tracing | null = null;

  /** Prepares the node's part in the group. The node is not registered before `run`. */
  constructor(options: NodeGroupOptions) {
    const { settings, work, probes, log } = options;
    const { nodeId: node, root, site, priority, tags, scores: sources } = settings;
    this.#options = options;
    this.root = root;
    this.site = site;
    this.#workload = work.workload(commandWorkload(options));
    this.agent = openAgent({
      ...options,
      root,
      node,
      site,
      priority,
      tags,
      probe: probes,
      sessionMemory: null,
      workload: this.#workload,
      workloadPlace: 'outside',
      log,
    });
    this.#health = watchHealth(settings, this.agent, log);
    this.#scores = new NodeScores({ sources, node, root, site, log });
    this.#scores.begin(this.agent, probes === null ? undefined : () => probes.roundTrips());
    probes?.begin({
      session: () => this.agent.session,
      requestsPerSecond: () => this.#scores.requestsPerSecond,
    });
  }

  /** Applies changed settings to a running node. */
  use(live: LiveSettings): void {
    this.agent.describe(live.priority, live.tags);
    this.#scores.use(live.scores);
    if (live.healthCheck !== null) this.#health?.use(healthCheckOf(live, live.healthCheck));
  }

  /** Runs until the agent has left. Throws whatever `Agent.run` throws. */
  async run(): Promise<void> {
    const { settings, log, work } = this.#options;
    const { nodeId: node, root, site } = settings;
    this.#tracing = await openTracing(this.agent, { root, node, site }, log);
    work.begins(this.agent);
    await this.agent.run();
  }

  /** Ends the workload of a group for which `run` was never called. Never rejects. */
  async giveUp(): Promise<void> {
    await this.#workload.close();
  }

  /** Stops measuring and reporting. Never rejects. */
  async close(): Promise<void> {
    await Promise.all([this.#health?.close(), this.#scores.close(), this.#tracing?.close()]);
  }
}

function commandWorkload({
  settings,
  work,
  supervisors,
  incarnation,
  log,
}: NodeGroupOptions): CommandWorkload {
  const { commands, foreground, environment } = work;
  const { nodeId: node, root } = settings;
  return new CommandWorkload({
    commands,
    foreground,
    environment,
    node,
    root,
    incarnation,
    log,
    ...machine,
    supervisors,
  });
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

/** Returns the status as text for operators who inspect the service. */
export function statusText({ stage, term, joined, elector }: AgentStatus, root: string): string {
  if (stage === 'leading') return `leads ${root} in term ${term}`;
  if (stage === 'releasing' || stage === 'released')
    return `is releasing leadership of ${root} in term ${term}`;
  if (stage !== null) return `is taking over ${root} in term ${term}`;
  if (!joined) return `is not connected to ${root}`;
  return elector ? `is a standby for ${root}, and the elector` : `is a standby for ${root}`;
}
