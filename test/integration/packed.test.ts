/** The package as `npm pack` makes it: its contents, and projects of every kind that use it. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linksOf } from '../docs/pages.js';
import { manifestOf, project, unpack } from '../support/packed.js';

let directory = '';
let tarball = '';
let installed = '';
/** Paths of the package's files. */
let files: readonly string[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'petrel-packed-'));
  tarball = await pack();
  files = (await run('tar', ['-tzf', tarball])).split('\n').map((path) => path.replace(/^package\//, ''));
  installed = join(directory, 'node_modules/petrel');
  await unpack(tarball, installed);
  await symlink(join(project, 'node_modules/@types'), join(directory, 'node_modules/@types'));
});
afterAll(() => rm(directory, { recursive: true }));

/** Packs a copy of the project, because the build replaces dist/, which other tests use. */
async function pack(): Promise<string> {
  const copy = join(directory, 'project');
  const isCopied = (path: string) => !['.git', 'dist', 'node_modules'].includes(basename(path));
  await cp(project, copy, { recursive: true, filter: isCopied });
  await symlink(join(project, 'node_modules'), join(copy, 'node_modules'));
  await run('npm', ['pack', '--offline', '--pack-destination', directory], copy);
  return join(directory, `petrel-${(await manifestOf(copy)).version}.tgz`);
}

/** Runs a program, which may be one of a development dependency. Returns its output. */
async function run(program: string, args: readonly string[], cwd = directory): Promise<string> {
  const path = `${join(project, 'node_modules/.bin')}:${process.env.PATH}`;
  const options = { cwd, env: { ...process.env, PATH: path, NO_COLOR: '1' }, maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(program, args, options).catch(
    (error: Error & { stdout?: string; stderr?: string }) => {
      throw new Error(`${error.message}\n${error.stdout}\n${error.stderr}`);
    },
  );
  return stdout;
}

describe('the package', () => {
  it('has types that every resolution of TypeScript finds, and that match what is loaded', async () => {
    expect(await run('attw', [tarball, '--format', 'ascii'])).toContain('No problems found');
  });

  it('has a package.json that says what npm and bundlers expect', async () => {
    expect(await run('publint', [tarball, '--strict'])).toContain('All good!');
  });

  it('is small, and holds nothing that only its builder can use', async () => {
    expect((await stat(tarball)).size).toBeLessThan(1_000_000);
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'CHANGELOG.md', 'SECURITY.md']));
    expect(files.filter((name) => /\.(map|tsbuildinfo|cache)$/.test(name))).toEqual([]);
  });

  it('installs fewer than 60 packages, itself included', async () => {
    const omitted = ['dev', 'optional', 'peer'].map((type) => `--omit=${type}`);
    const paths = await run('npm', ['ls', '--all', '--parseable', '--workspaces=false', ...omitted], project);
    expect(paths.trim().split('\n').length).toBeLessThan(60);
  });

  it('has pages whose links lead to files of the package', async () => {
    const pages = files.filter((path) => path.endsWith('.md'));
    expect(pages).toContain('docs/index.md');
    const links = await Promise.all(
      pages.map(async (page) => linksOf(page, await readFile(join(installed, page), 'utf8'))),
    );
    const isThere = (path: string) => files.some((file) => file === path || file.startsWith(`${path}/`));
    expect(links.flat().filter(({ path }) => !isThere(path))).toEqual([]);
  });
});

const names = {
  petrel: 'Petrel',
  'petrel/strategies': 'strategies',
  'petrel/testing': 'startDevelopmentServer',
};
const imports = Object.entries(names).map(([module, name]) => `import { ${name} } from '${module}';\n`);
const requires = Object.entries(names).map(([module, name]) => `const { ${name} } = require('${module}');\n`);
/** Valid as JavaScript and as TypeScript. */
const program = `
async function main() {
  const server = await startDevelopmentServer();
  const petrel = await Petrel.join({ zookeeper: server.connectString, nodeId: 'a1', site: 'a' });
  const term = await new Promise((resolve) => {
    petrel.on('leader', (leadership) => resolve(leadership.term));
    petrel.lead((_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())));
  });
  console.log(\`led in term \${term}; \${strategies.has('oldest')}\`);
  await petrel.close();
  await server.close();
}

void main();
`;

const typescript = ['--strict', '--target', 'es2022', '--lib', 'es2022,esnext.disposable', '--types', 'node'];
const classic = ['--module', 'commonjs', '--moduleResolution', 'node10'];
const bundled = ['--module', 'esnext', '--moduleResolution', 'bundler'];

describe('a project that uses the package', () => {
  it.each<[kind: string, type: 'module' | 'commonjs', source: readonly string[], compiler: string[] | null]>([
    ['in JavaScript, with ES modules', 'module', imports, null],
    ['in JavaScript, with CommonJS', 'commonjs', requires, null],
    // Only this case checks whether the types are complete, because that check is the same in all cases.
    ['in TypeScript, with ES modules', 'module', imports, ['--module', 'node16', '--skipLibCheck', 'false']],
    ['in TypeScript, with CommonJS', 'commonjs', imports, ['--module', 'node16', '--skipLibCheck']],
    ['in TypeScript, by the rules of Node.js 10', 'commonjs', imports, [...classic, '--skipLibCheck']],
    ['in TypeScript, for a bundler', 'module', imports, [...bundled, '--skipLibCheck']],
  ])('%s, compiles and leads', async (_, type, source, compiler) => {
    const folder = await mkdtemp(join(directory, 'user-'));
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type }));
    await writeFile(join(folder, compiler === null ? 'main.js' : 'main.ts'), `${source.join('')}${program}`);
    if (compiler !== null) expect(await run('tsc', [...typescript, ...compiler, 'main.ts'], folder)).toBe('');
    expect(await run(process.execPath, ['main.js'], folder)).toBe('led in term 1; true\n');
  });
});
