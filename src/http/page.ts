/**
 * The status page at `/`, and its files. The page uses the public HTTP API to read and change the group. The
 * page itself contains nothing about a group except its root, so any client that reaches the port may load
 * it.
 */
import * as z from 'zod';
import { oneLine } from '../model/outside.js';
import type { App } from './app.js';
import { type Groups, tolerantRootQuery } from './groups.js';
import { kept } from './kept.js';
import { type PageFile, type PageFiles, readPageFiles } from './page-files.js';
import { type Answer, type Head, reading, unread } from './route.js';

/**
 * Content security policy of the page. It allows only the agent's own files and API, and forbids scripts that
 * are generated from text.
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
  app.add({
    ...unread,
    methods: reading,
    path: '/',
    summary:
      'the status page of the group; if the agent is in several groups and ?root is missing, links to their pages',
    tags: ['group'],
    query: tolerantRootQuery,
    responses: { 200: { description: 'HTML', content: { 'text/html': z.string() } } },
    answer: async ({ headers, query: { root } }) => {
      const { html, hash } = await files();
      const roots = groups.all().map((group) => group.root);
      const common = { 'content-security-policy': policy, 'cache-control': 'no-cache' };
      if (root === undefined && roots.length > 1)
        return { headers: { ...common, 'content-type': html.type }, content: linksTo(roots, hash) };
      const tagged = { ...common, etag: `W/"${hash}"` };
      if (headers['if-none-match'] === tagged.etag) return { status: 304, headers: tagged, content: '' };
      return packed(headers, html, tagged);
    },
  });
  const parts: readonly [string, (files: PageFiles) => PageFile][] = [
    ['/page/page.js', ({ script }) => script],
    ['/page/page.css', ({ css }) => css],
    ['/page/icon.svg', ({ icon }) => icon],
  ];
  for (const [path, part] of parts) {
    const answer = async ({ url, headers }: Head) => {
      const all = await files();
      // If the address contains the current hash, the file at this address never changes. The file at any
      // other address may change.
      const isNamed = url === `${path}?${all.hash}`;
      return packed(headers, part(all), { 'cache-control': isNamed ? forGood : 'no-cache' });
    };
    app.add({ ...unread, methods: reading, path, responses: {}, answer });
  }
}

/** Returns a page with links to the groups. Used by an agent that is in several groups. */
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

/** Returns an answer with a file. The file is compressed if the client supports compression. */
function packed(
  requested: Head['headers'],
  { type, plain, gzipped }: PageFile,
  headers: Readonly<Record<string, string>>,
): Answer {
  const zips = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(String(requested['accept-encoding'] ?? ''));
  const all = { ...headers, 'content-type': type, vary: 'accept-encoding' };
  return zips
    ? { headers: { ...all, 'content-encoding': 'gzip' }, content: gzipped }
    : { headers: all, content: plain };
}
