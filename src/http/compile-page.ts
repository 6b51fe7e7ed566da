/**
 * Makes the page's script out of packages/page: one file, with all that it needs. Part of the build; in a
 * clone, where nothing was built, done when the page is first asked for.
 */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** `folder` is packages/page/src, with a slash at its end. Throws where the source does not compile. */
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
