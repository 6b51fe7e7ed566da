/** Puts a compiled module and all that it needs into one file of CommonJS, which Node.js loads faster than ES modules. */
import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { build } from 'esbuild';

/** Loaded only by who asks for HTTP, traces, or the page where nothing was built. */
const external = [
  '@fastify/rate-limit',
  '@fastify/swagger',
  '@opentelemetry/*',
  'esbuild',
  'fastify',
  'light-my-request',
  'prom-client',
];

/** Returns the names of the packages that the file holds code of. */
export async function bundle(entryPoint, outfile) {
  const { metafile } = await build({
    entryPoints: [entryPoint],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    // Of a package that has both, one file instead of many small ones.
    conditions: [],
    external,
    // A process keeps the text of what it runs. An error that nobody caught shows the line that threw it.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160,
    metafile: true,
    logLevel: 'warning',
    plugins: [ownAddresses(outfile)],
  });
  return Object.keys(metafile.inputs).flatMap(
    (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
  );
}

/** What a module finds beside itself, it finds beside the file that it was compiled to. */
function ownAddresses(outfile) {
  return {
    name: 'own-addresses',
    setup({ onLoad }) {
      onLoad({ filter: /\/dist\/(src|strategies)\/.*\.js$/ }, ({ path }) => {
        const from = JSON.stringify(relative(dirname(resolve(outfile)), path));
        const url = `require('node:url').pathToFileURL(require('node:path').join(__dirname, ${from})).href`;
        return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', url), loader: 'js' };
      });
    },
  };
}
