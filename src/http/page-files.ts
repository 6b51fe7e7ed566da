/** The files of the status page, ready to be sent. They are read at the first request and kept. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export interface PageFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

export interface PageFiles {
  /** Hash of all files together. It is different for every version of the page. */
  readonly hash: string;
  readonly html: PageFile;
  readonly css: PageFile;
  readonly script: PageFile;
  readonly icon: PageFile;
}

const isSource = import.meta.url.endsWith('.ts');
const folder = new URL(isSource ? '../../packages/page/src/' : '../page/', import.meta.url);

/** Reads the page's files. Throws if a file is missing or the script does not compile. */
export async function readPageFiles(): Promise<PageFiles> {
  const [html, css, icon, script] = await Promise.all([
    readFile(new URL('index.html', folder)),
    readFile(new URL('page.css', folder)),
    readFile(new URL('icon.svg', folder)),
    readScript(),
  ]);
  const parts = [html, css, icon, script];
  const digest = parts.reduce((sum, part) => sum.update(part), createHash('sha256')).digest('hex');
  const hash = digest.slice(0, 16);
  const named = Buffer.from(html.toString('utf8').replaceAll('{{page}}', hash));
  return {
    hash,
    html: await packed('text/html; charset=utf-8', named),
    css: await packed('text/css; charset=utf-8', css),
    script: await packed('text/javascript; charset=utf-8', script),
    icon: await packed('image/svg+xml', icon),
  };
}

/**
 * Returns the page's script. If Petrel runs from source, there is no built script, so the script is compiled.
 */
async function readScript(): Promise<Buffer> {
  if (!isSource) return await readFile(new URL('page.js', folder));
  const { compilePage } = await import('./compile-page.js');
  return await compilePage(folder);
}

async function packed(type: string, plain: Buffer): Promise<PageFile> {
  return { type, plain, gzipped: await promisify(gzip)(plain, { level: 9 }) };
}
