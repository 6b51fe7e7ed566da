/** Sends spans to a collector by OTLP over HTTP. Loaded only if an exporter is configured. */
import type { Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from '../log.js';
import { brief } from '../model/names.js';
import type { Clock } from '../ports/clock.js';
import { version } from '../version.js';
import { ChosenIds } from './ids.js';

/** Time for which spans wait, to be sent in one batch. */
const delayMs = 1_000;
/** Spans that are not accepted by then are lost. The limits also bound the delay of a process that exits. */
const exportTimeoutMs = 2_000;
const closeTimeoutMs = 1_000;

export interface Exporting {
  readonly tracer: Tracer;
  readonly ids: ChosenIds;
  /** Sends the waiting spans, within a second. Never rejects. */
  close(): Promise<void>;
}

/** The address and the headers come from OpenTelemetry's environment variables. */
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

/** Logs once when spans cannot be sent, and once when they can be sent again. */
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
 * Does not return the error itself, which may contain the collector's whole response, including credentials
 * that were sent to it.
 */
function whyOf(error: Error): string {
  const code = 'code' in error ? ` (${String(error.code)})` : '';
  return `${brief(error.message)}${code}`;
}
