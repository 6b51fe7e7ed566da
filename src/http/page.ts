/**
 * The status page at `/`, and its files. The page uses the public HTTP API to read and change the group. The
 * page itself contains nothing about a group except its root, so any client that reaches the port may load
 * it.
 */
import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import * as z from 'zod';
import { oneLine } from '../model/outside.js';
import type { App } from './app.js';
import { type Groups, tolerantRootQuery } from './groups.js';
import { kept } from './kept.js';
import { type PageFile, type PageFiles, readPageFiles } from './page-files.js';

/**
 * Content security policy of the page. It allows only the agent's own files and API, and forbids scripts that
 * are made from text.
 */
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

/** Cache policy for a file whose address changes with its content. */
const forGood = 'public, max-age=31536000, immutable';

/** All servers of a process share the files, because the files do not change while the process runs. */
const files = kept(readPageFiles);

export function addPage(app: App, groups: Groups): void {
  const schema: FastifySchema = {
    summary: 'the status page of the group; without ?root, if the agent is in several groups, links to each',
    tags: ['group'],
    produces: ['text/html'],
    querystring: tolerantRootQuery,
    response: { 200: { description: 'HTML', content: { 'text/html': { schema: z.string() } } } },
  };
  app.get('/', { schema }, async (request, reply) => {
    const { html, hash } = await files();
    const { root } = tolerantRootQuery.parse(request.query);
    const roots = groups.all().map((group) => group.root);
    if (root === undefined && roots.length > 1) {
      reply.headers({ 'content-security-policy': policy, 'cache-control': 'no-cache' });
      return reply.type(html.type).send(linksTo(roots, hash));
    }
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
      // An address with the current hash always means the same content. Under any other address, the content
      // may change.
      const isNamed = request.url === `${path}?${all.hash}`;
      reply.header('cache-control', isNamed ? forGood : 'no-cache');
      return give(request, reply, part(all));
    });
  }
}

/** Returns a page with links to the groups, for an agent that is in several groups. */
function linksTo(roots: readonly string[], hash: string): string {
  const links = roots.map(
    (root) => `<li><a href="?root=${encodeURIComponent(root)}">${asHtml(root)}</a></li>`,
  );
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Petrel</title>
    <link rel="icon" href="page/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="page/page.css?${hash}">
  </head>
  <body>
    <div id="page">
      <header class="head tone-unknown">
        <div class="top"><span class="brand">Petrel</span></div>
        <h1>This agent is in ${roots.length} groups</h1>
      </header>
      <ul class="groups">
        ${links.join('\n        ')}
      </ul>
    </div>
  </body>
</html>
`;
}

function asHtml(text: string): string {
  return oneLine(text).replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function give(request: FastifyRequest, reply: FastifyReply, { type, plain, gzipped }: PageFile) {
  reply.type(type).header('vary', 'accept-encoding');
  const zips = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(
    String(request.headers['accept-encoding'] ?? ''),
  );
  if (zips) reply.header('content-encoding', 'gzip');
  return reply.send(zips ? gzipped : plain);
}
