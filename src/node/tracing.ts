/**
 * An agent's traces, which follow OpenTelemetry's conventions. They are sent if the environment names an
 * exporter. If it does not, none of the tracing code is loaded.
 */
import type { Agent } from '../agent/agent.js';
import { errorMessage } from '../errors.js';
import type { Logger } from '../log.js';
import { systemClock } from '../ports/clock.js';

export interface Traced {
  readonly root: string;
  readonly node: string;
  readonly site: string;
}

export interface Tracing {
  /** Sends pending traces within a second. Never rejects. */
  close(): Promise<void>;
}

/** Optional peer dependencies of Petrel, with the versions that package.json allows. */
export const tracingPackages = [
  '@opentelemetry/api@^1.9.1',
  '@opentelemetry/exporter-trace-otlp-http@^0.223.1',
  '@opentelemetry/resources@^2.12.1',
  '@opentelemetry/sdk-trace@^2.12.1',
] as const;

/** Starts tracing. Returns null if tracing is off. If an error occurs, only the traces are disabled. */
export async function openTracing(agent: Agent, traced: Traced, log: Logger): Promise<Tracing | null> {
  const { wanted, problem } = readExporter(process.env);
  if (problem !== null) log.warn(`tracing is off: ${problem}`);
  if (!wanted) return null;
  try {
    const [{ openExporting }, { TransitionTracer }] = await Promise.all([
      import('../tracing/exporting.js'),
      import('../tracing/transition-tracer.js'),
    ]);
    const { tracer, ids, close } = openExporting(traced.node, systemClock, log);
    const transitions = new TransitionTracer({ ...traced, tracer, ids, clock: systemClock });
    agent.onEvent((event) => transitions.hear(event));
    return { close };
  } catch (error) {
    if (isMissingPackage(error)) {
      log.warn(
        `running without traces: the packages that send traces are not installed: npm install ${tracingPackages.join(' ')}`,
      );
      return null;
    }
    log.warn({ error }, `running without traces: ${errorMessage(error)}`);
    return null;
  }
}

function isMissingPackage(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  const isMissing = error.code === 'MODULE_NOT_FOUND' || error.code === 'ERR_MODULE_NOT_FOUND';
  return isMissing && error.message.includes("'@opentelemetry/");
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns whether the environment names an exporter that Petrel supports. If Petrel does not support the
 * named exporter, also returns a problem.
 */
export function readExporter(env: Environment): {
  readonly wanted: boolean;
  readonly problem: string | null;
} {
  const none = { wanted: false, problem: null };
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return none;
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const exporter = env.OTEL_TRACES_EXPORTER || (endpoint ? 'otlp' : 'none');
  if (exporter === 'none') return none;
  if (exporter !== 'otlp') {
    return {
      wanted: false,
      problem: `OTEL_TRACES_EXPORTER is ${exporter}, but only otlp and none are supported`,
    };
  }
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol === 'grpc') {
    return {
      wanted: false,
      problem: 'OTEL_EXPORTER_OTLP_PROTOCOL is grpc, but only http/json is supported (usually on port 4318)',
    };
  }
  return { wanted: true, problem: null };
}
