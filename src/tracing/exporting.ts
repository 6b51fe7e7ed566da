/** Spans to a collector, by OTLP over HTTP. It is loaded only where an exporter is configured. */
import type { Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from '../log.js';
import { brief } from '../model/names.js';
import type { Clock } from '../ports/clock.js';
import { version } from '../version.js';
import { ChosenIds } from './ids.js';

/** Spans wait so long for company. */
const delayMs = 1_000;
/** One that is not taken by then is lost; and a process that ends is held up by no more. */
const exportTimeoutMs = 2_000;
const closeTimeoutMs = 1_000;

export interface Exporting {
  readonly tracer: Tracer;
  readonly ids: ChosenIds;
  /** Sends what waits, within a second. Never rejects. */
  close(): Promise<void>;
}

/** Where to, and with which headers, is in the environment, as OpenTelemetry has it. */
export function openExporting(node: string, clock: Clock, log: Logger): Exporting {
  const own = { 'service.name': 'petrel', 'service.version': version, 'service.instance.id': node };
  const ids = new ChosenIds();
  const exporter = told(new OTLPTraceExporter({ timeoutMillis: exportTimeoutMs }), log);
  const provider = new TracerProvider({
    idGenerator: ids,
    resource: resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        scheduledDelayMillis: delayMs,
        exportTimeoutMillis: exportTimeoutMs,
      }),
    ],
  });
  return {
    tracer: provider.getTracer('petrel', version),
    ids,
    close: () =>
      new Promise((resolve) => {
        const cancel = clock.timer(closeTimeoutMs, resolve);
        const done = () => {
          cancel();
          resolve();
        };
        provider.shutdown().then(done, done);
      }),
  };
}

/** Says once when spans cannot be sent, and once when they can be again. */
function told(exporter: SpanExporter, log: Logger): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const { error } = result;
        if (error !== undefined && !isFailing) log.warn(`cannot send traces: ${whyOf(error)}`);
        else if (error === undefined && isFailing) log.info('traces can be sent again');
        isFailing = error !== undefined;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

/**
 * Not the error itself: it may hold all that the other side answered, credentials that were sent to it
 * included.
 */
function whyOf(error: Error): string {
  const code = 'code' in error ? ` (${String(error.code)})` : '';
  return `${brief(error.message)}${code}`;
}
