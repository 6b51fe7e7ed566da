/**
 * The page for people: at `/`, with its files beside it. It is read, and changes the group, by the calls that everybody
 * has; nothing of the group is in the page itself, so whoever reaches the port may have it.
 */
import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import * as z from 'zod';
import type { App } from './app.js';
import { tolerantRootQuery } from './groups.js';
import { type PageFile, type PageFiles, readPageFiles } from './page-files.js';

/** Nothing but the agent's own files and calls, and no script made out of text. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Its name changes with its content. */
const forGood = 'public, max-age=31536000, immutable';

/** Read once; what failed is tried again by the next who asks. */
function kept<T>(read: () => Promise<T>): () => Promise<T> {
  let held: Promise<T> | null = null;
  return () => {
    held ??= read().catch((error: unknown) => {
      held = null;
      throw error;
    });
    return held;
  };
}

/** For all servers of a process: they do not change while it runs. */
const files = kept(readPageFiles);

export function addPage(app: App): void {
  const schema: FastifySchema = {
    summary: 'the page: the group in a browser',
    tags: ['group'],
    produces: ['text/html'],
    querystring: tolerantRootQuery,
    response: { 200: { description: 'HTML', content: { 'text/html': { schema: z.string() } } } },
  };
  app.get('/', { schema }, async (request, reply) => {
    const { html, hash } = await files();
    const tag = `W/"${hash}"`;
    reply.headers({ 'content-security-policy': policy, 'cache-control': 'no-cache', etag: tag });
    if (request.headers['if-none-match'] === tag) return reply.code(304).send();
    return give(request, reply, html);
  });
  const parts: readonly [string, (files: PageFiles) => PageFile][] = [
    ['/page/page.js', ({ script }) => script],
    ['/page/page.css', ({ css }) => css],
    ['/page/icon.svg', ({ icon }) => icon],
  ];
  for (const [path, part] of parts) {
    app.get(path, { schema: { hide: true } }, async (request, reply) => {
      const all = await files();
      // Without the hash, or with another one, it may be another file tomorrow.
      const isNamed = request.url === `${path}?${all.hash}`;
      reply.header('cache-control', isNamed ? forGood : 'no-cache');
      return give(request, reply, part(all));
    });
  }
}

function give(request: FastifyRequest, reply: FastifyReply, { type, plain, gzipped }: PageFile) {
  reply.type(type).header('vary', 'accept-encoding');
  const zips = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(
    String(request.headers['accept-encoding'] ?? ''),
  );
  if (zips) reply.header('content-encoding', 'gzip');
  return reply.send(zips ? gzipped : plain);
}
