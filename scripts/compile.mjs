/**
 * Compiles to dist/: each module once, those that are loaded together in one file, dependencies left where
 * npm installs them. CommonJS, because every Node.js that Petrel runs on can import and require it, and loads
 * it in less time and memory than ES modules.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build, transform } from 'esbuild';

/** Beside the package's exports: what is started or loaded by its path. */
const programs = [
  'src/cli/main.ts',
  'src/cli/run.ts',
  'src/guardian/program.ts',
  'src/hooks/supervisor.ts',
  'src/http/compile-page.ts',
  'src/own-strategies/worker.ts',
];
const outdir = 'dist';
/** In what is compiled: its URL. */
const dist = '__petrelDist';

export async function compile(exported) {
  // Only ES modules can share files.
  const { outputFiles } = await build({
    entryPoints: [...programs, ...exported],
    outdir,
    outbase: '.',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
    plugins: [ownAddresses],
  });
  await Promise.all(outputFiles.map(({ path, text }) => writeCommonJs(path, text)));
  writeFileSync(join(outdir, 'package.json'), '{ "type": "commonjs" }\n');
  removeOthers(join(outdir, 'chunks'), new Set(outputFiles.map(({ path }) => path)));
}

/** Of an earlier build. */
function removeOthers(folder, written) {
  for (const path of readdirSync(folder).map((name) => resolve(folder, name)))
    if (!written.has(path)) rmSync(path);
}

async function writeCommonJs(path, text) {
  // The namespace object that esbuild makes of a package costs a getter for each of zod's 300 names in every
  // file.
  const plain = text.replaceAll(/\bimport \* as (\w+) from "zod";/g, 'import { z as $1 } from "zod";');
  // As the ending says, its imports are those of an ES module of Node.js.
  const options = { format: 'cjs', platform: 'node', target: 'node20', sourcefile: `${path}.mjs` };
  const { code } = await transform(plain, options);
  const required = code.replaceAll(
    /\bimport\(("\.\.?\/[^"]+")\)/g,
    'Promise.resolve().then(() => require($1))',
  );
  const up = relative(dirname(path), resolve(outdir));
  const address = `const ${dist} = require("node:url").pathToFileURL(require("node:path").join(__dirname, "${up}/"));\n`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, required.includes(dist) ? withSecondLine(required, address) : required);
}

/** What says how it is run stays first. */
function withSecondLine(text, line) {
  const end = text.startsWith('#!') ? text.indexOf('\n') + 1 : 0;
  return text.slice(0, end) + line + text.slice(end);
}

/**
 * What a module finds beside itself, it finds in dist/ at the same place, whichever file the module has
 * become part of.
 */
const ownAddresses = {
  name: 'own-addresses',
  setup({ onLoad }) {
    onLoad({ filter: /\/(src|strategies)\/.*\.ts$/ }, ({ path }) => {
      const compiled = relative('.', path).replace(/\.ts$/, '.js');
      const url = `new URL(${JSON.stringify(compiled)}, ${dist}).href`;
      return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', url), loader: 'ts' };
    });
  },
};
