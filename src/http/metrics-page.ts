/**
 * The page for Prometheus: metrics of the process, and of every group that the agent is in. Rendering a
 * thousand groups takes a long time, so rendering pauses after each group to let other work run. At the end,
 * every group in which this node has gained or lost leadership in the meantime is rendered again.
 */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { ServedGroups } from '../node/served-groups.js';
import type { Clock } from '../ports/clock.js';
import { Metrics } from './metrics.js';

export interface MetricsPageOptions {
  readonly groups: ServedGroups;
  readonly clock: Clock;
}

/**
 * Metrics that are left out because they repeat others, or because a future version of Node.js will remove
 * them.
 */
const leftOut = [
  'nodejs_active_resources_total',
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
];

interface Part {
  readonly metrics: Metrics;
  leads: boolean;
  text: string;
}

export class MetricsPage {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #options: MetricsPageOptions;
  readonly #byRoot = new Map<string, Metrics>();
  #process: Registry | null = null;

  constructor(options: MetricsPageOptions) {
    const { groups, clock } = options;
    this.#options = options;
    groups.onCome((group) => {
      this.#byRoot.get(group.root)?.close();
      this.#byRoot.set(group.root, new Metrics({ ...group, clock }));
    });
    groups.onGone((root) => {
      this.#byRoot.get(root)?.close();
      this.#byRoot.delete(root);
    });
  }

  /**
   * Renders the page. The leadership that it shows is still current at the end of the event-loop turn in
   * which the promise resolves.
   */
  async text(): Promise<string> {
    const process = await this.#ofProcess();
    const parts: Part[] = [];
    for (const [index, metrics] of [...this.#byRoot.values()].entries()) {
      if (index > 0) await new Promise<void>((resolve) => void this.#options.clock.turn(resolve));
      parts.push({ metrics, leads: metrics.leads, text: await metrics.text() });
    }
    for (let stale = staleOf(parts); stale !== undefined; stale = staleOf(parts)) {
      stale.leads = stale.metrics.leads;
      stale.text = await stale.metrics.text();
    }
    return merged([...parts.map((part) => part.text), process]);
  }

  close(): void {
    for (const metrics of this.#byRoot.values()) metrics.close();
  }

  /**
   * Renders the metrics of the process. The registry is created at the first request, so it costs nothing
   * before that.
   */
  async #ofProcess(): Promise<string> {
    if (this.#process === null) {
      const register = new Registry();
      const [first, ...others] = this.#options.groups.all();
      const node = first?.agent.status.node ?? '';
      register.setDefaultLabels(
        first === undefined || others.length > 0 ? { node } : { root: first.root, node },
      );
      collectDefaultMetrics({ register });
      for (const name of leftOut) register.removeSingleMetric(name);
      this.#process = register;
    }
    return await this.#process.metrics();
  }
}

function staleOf(parts: readonly Part[]): Part | undefined {
  return parts.find(({ leads, metrics }) => leads !== metrics.leads);
}

/**
 * Joins the metrics of several sources. Each metric's description appears once, followed by all samples of
 * the metric.
 */
function merged(texts: readonly string[]): string {
  const families = new Map<string, string[]>();
  for (const family of texts.flatMap((text) => text.split(/^(?=# HELP )/m))) {
    const [help = '', type = '', ...samples] = family.trimEnd().split('\n');
    if (help === '') continue;
    const known = families.get(help);
    if (known === undefined) families.set(help, [help, type, ...samples]);
    else known.push(...samples);
  }
  return `${[...families.values()].map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
