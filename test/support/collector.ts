/** An OpenTelemetry collector that records the data it receives by OTLP over HTTP as JSON. */
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { closeServer, freePorts, listen } from './ports.js';

const attributesSchema = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) }))
  .transform((all) => Object.fromEntries(all.map(({ key, value }) => [key, Object.values(value)[0]])));

const spanSchema = z.object({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: z.coerce.bigint(),
  endTimeUnixNano: z.coerce.bigint(),
  attributes: attributesSchema,
  status: z.object({ code: z.number().optional(), message: z.string().optional() }),
});

const requestSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: attributesSchema }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
});

export type ReceivedSpan = z.output<typeof spanSchema> & {
  readonly resource: Readonly<Record<string, unknown>>;
};

export class Collector implements AsyncDisposable {
  readonly url: string;
  readonly spans: ReceivedSpan[] = [];
  /** Errors that occurred while requests were parsed. */
  readonly problems: unknown[] = [];
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}`;
  }

  /**
   * Starts a collector. If `manner` is `mute`, it never answers. If it is `refuses`, it answers 401 with the
   * headers that it received.
   */
  static async start(manner: 'takes' | 'refuses' | 'mute' = 'takes'): Promise<Collector> {
    const [port = 0] = await freePorts(1);
    const server = createServer();
    const collector = new Collector(server, port);
    server.on('request', async (request, response) => {
      if (manner === 'mute') return;
      if (manner === 'refuses') return response.writeHead(401).end(JSON.stringify(request.headers));
      if (request.url === '/v1/traces') collector.#take(await text(request));
      response.setHeader('Content-Type', 'application/json').end('{}');
    });
    await listen(server, port);
    return collector;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await closeServer(this.#server);
  }

  #take(body: string): void {
    try {
      for (const { resource, scopeSpans } of requestSchema.parse(JSON.parse(body)).resourceSpans) {
        const spans = scopeSpans.flatMap((scope) => scope.spans);
        this.spans.push(...spans.map((span) => ({ ...span, resource: resource.attributes })));
      }
    } catch (error) {
      this.problems.push(error);
    }
  }
}
