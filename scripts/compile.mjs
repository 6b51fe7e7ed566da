/**
 * Compiles to dist/. Each module is compiled once, and modules that are loaded together share a file.
 * Dependencies stay where npm installs them. The output is CommonJS: every Node.js version that Petrel
 * supports can import and require it, and loads it in less time and memory than ES modules.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build, transform } from 'esbuild';
import { writeWhole } from './write-whole.mjs';

/** Entry points that other processes start or load by path, in addition to the package's exports. */
const programs = [
  'src/cli/main.ts',
  'src/cli/run.ts',
  'src/guardian/program.ts',
  'src/hooks/supervisor.ts',
  'src/http/compile-page.ts',
  'src/own-strategies/worker.ts',
];
const outdir = 'dist';
const keptMs = 24 * 60 * 60 * 1000;
/** Name of a variable in the compiled files that contains the URL of dist/. */
const dist = '__petrelDist';

export async function compile(exported) {
  // Compile to ES modules first, because only these can share files.
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
  mkdirSync(outdir, { recursive: true });
  writeWhole(join(outdir, 'package.json'), '{ "type": "commonjs" }\n');
  await Promise.all(outputFiles.map(({ path, text }) => writeCommonJs(path, text)));
  removeOld(join(outdir, 'chunks'), new Set(outputFiles.map(({ path }) => path)));
}

/** Removes files of earlier builds, except new ones: a program that is running may still load them. */
function removeOld(folder, written) {
  for (const path of readdirSync(folder).map((name) => resolve(folder, name)))
    if (!written.has(path) && Date.now() - statSync(path).mtimeMs > keptMs) rmSync(path);
}

async function writeCommonJs(path, text) {
  // Import `z` directly. For a namespace import of zod, esbuild makes an object with a getter for each of its
  // 300 names in every file.
  const plain = text.replaceAll(/\bimport \* as (\w+) from "zod";/g, 'import { z as $1 } from "zod";');
  // The file name makes esbuild treat its imports like those of an ES module in Node.js.
  const options = { format: 'cjs', platform: 'node', target: 'node20', sourcefile: `${path}.mjs` };
  const { code } = await transform(plain, options);
  const required = code.replaceAll(
    /\bimport\(("\.\.?\/[^"]+")\)/g,
    'Promise.resolve().then(() => require($1))',
  );
  const up = relative(dirname(path), resolve(outdir));
  const address = `const ${dist} = require("node:url").pathToFileURL(require("node:path").join(__dirname, "${up}/"));\n`;
  mkdirSync(dirname(path), { recursive: true });
  writeWhole(path, required.includes(dist) ? withSecondLine(required, address) : required);
}

/** Inserts a line at the beginning. A shebang line stays first. */
function withSecondLine(text, line) {
  const end = text.startsWith('#!') ? text.indexOf('\n') + 1 : 0;
  return text.slice(0, end) + line + text.slice(end);
}

/**
 * Resolves `import.meta.url` to the module's place in dist/, even if the output file is elsewhere. Modules
 * can therefore find the files next to them.
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
