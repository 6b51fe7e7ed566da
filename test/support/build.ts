/** Builds the command line, as it is shipped, for the tests that run it. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';

const project = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Builds the command line and petrel-lab, and returns the path of the main program. Skips the type check for
 * speed: `npm run check` does it.
 */
export async function buildCommandLine(): Promise<string> {
  await run(`${project}scripts/build.mjs`, '--without-types');
  return `${project}dist/src/cli/main.js`;
}

/**
 * Programs that tests start in separate processes. Each entry is a path below test/, without its extension.
 */
const fixtures = [
  'chaos/main',
  'exploration/main',
  'guardian/fixtures/guardian',
  'guardian/fixtures/starved',
  'guardian/fixtures/watched',
  'hooks/agent',
  'hooks/fixtures/starved',
  'library/fixtures/leader',
  'simulation/main',
];

/** This folder is below node_modules, so that imports resolve and the package does not include it. */
const modules = `${project}node_modules/.cache/petrel/modules`;

/**
 * Compiles each module of Petrel separately, and the test programs. Starting a program from its sources would
 * compile them every time, which takes a second. Returns the folder of the compiled files, which have the
 * same paths as in the project.
 */
export async function buildModules(): Promise<string> {
  const options = {
    outdir: modules,
    outbase: project,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  } as const;
  const sources = ['src', 'strategies'].flatMap((folder) =>
    readdirSync(`${project}${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${project}${folder}/${name}`),
  );
  const entryPoints = fixtures.map((name) => `${project}test/${name}.ts`);
  await build({ ...options, entryPoints: sources });
  await build({ ...options, entryPoints, bundle: true, packages: 'external', plugins: [sourcesApart] });
  await writeFile(`${modules}/package.json`, '{ "type": "module" }\n');
  return modules;
}

/** Leaves Petrel's own modules out of the bundle: they are compiled separately. */
const sourcesApart: Plugin = {
  name: 'sources-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.\/.*src\/.*\.js$/ }, ({ path }) => ({
      path: path.replace(/^.*?src\//, `${modules}/src/`),
      external: true,
    }));
  },
};

async function run(...args: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, args).catch((error: { stdout?: string; stderr?: string }) => {
    throw new Error(`it does not compile:\n${error.stdout ?? error}\n${error.stderr ?? ''}`);
  });
}
