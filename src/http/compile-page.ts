/**
 * Bundles the page's script from packages/page into one file. The build calls this module. If Petrel runs
 * from source, the agent calls it at the first request for the page.
 */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * Returns the bundled script. `folder` is packages/page/src, with a trailing slash. Throws if the source does
 * not compile.
 */
export async function compilePage(folder: URL): Promise<Buffer> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('main.tsx', folder))],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    logLevel: 'silent',
  });
  return Buffer.from(outputFiles[0]?.contents ?? []);
}
