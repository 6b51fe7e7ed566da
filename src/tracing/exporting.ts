/**
 * Sends spans to a collector with OTLP over HTTP. This module is loaded only if an exporter is configured.
 */
import type { Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from '../log.js';
import { brief } from '../model/names.js';
import type { Clock } from '../ports/clock.js';
import { version } from '../version.js';
import { ChosenIds } from './ids.js';

/** Milliseconds to wait before sending spans, so that several spans are sent in one batch. */
const delayMs = 1_000;
/**
 * Time limit for sending a batch, in milliseconds. Spans that the collector has not accepted by then are
 * lost. This limit and the next one also prevent long delays when the process exits.
 */
const exportTimeoutMs = 2_000;
const closeTimeoutMs = 1_000;

export interface Exporting {
  readonly tracer: Tracer;
  readonly ids: ChosenIds;
  /** Sends the waiting spans. Takes at most a second. Never rejects. */
  close(): Promise<void>;
}

/** Opens the exporter. Its address and headers come from OpenTelemetry's environment variables. */
export function openExporting(node: string, clock: Clock, log: Logger): Exporting {
  const own = { 'service.name': 'petrel', 'service.version': version, 'service.instance.id': node };
  const ids = new ChosenIds();
  const exporter = logsFailures(new OTLPTraceExporter({ timeoutMillis: exportTimeoutMs }), log);
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

/** Returns an exporter that logs when sending starts to fail, and when it succeeds again. */
function logsFailures(exporter: SpanExporter, log: Logger): SpanExporter {
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
 * Returns the reason for a failure. The error itself must not be logged: it may contain the collector's whole
 * response, including credentials that were sent to the collector.
 */
function whyOf(error: Error): string {
  const code = 'code' in error ? ` (${String(error.code)})` : '';
  return `${brief(error.message)}${code}`;
}
