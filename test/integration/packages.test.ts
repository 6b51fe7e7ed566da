/** The packages of Petrel and petrel-lab, installed next to each other, and Petrel alone. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labSchema } from '../../packages/lab/src/command/results-text.js';
import { simulationSchema } from '../../src/what-if/simulation.js';
import { oncePerRun } from '../support/once-per-run.js';
import { manifestOf, project, unpack } from '../support/packed.js';
import { type Outcome, runProgram } from '../support/run-tool.js';

const run = promisify(execFile);

let directory = '';

beforeAll(async () => {
  await oncePerRun('build');
  directory = await mkdtemp(join(tmpdir(), 'petrel-packages-'));
  const pack = ['pack', '--offline', '--ignore-scripts', '--pack-destination', directory];
  await run('npm', pack, { cwd: project });
  await run('npm', [...pack, '--workspace', 'petrel-lab'], { cwd: project });
  await install('alone', 'petrel');
  for (const name of ['petrel', 'petrel-lab']) await install('both', name);
});
afterAll(() => rm(directory, { recursive: true }));

async function install(place: string, name: string): Promise<void> {
  const { version } = await manifestOf(project);
  await unpack(join(directory, `${name}-${version}.tgz`), join(directory, place, 'node_modules', name));
}

function petrel(place: string, ...args: string[]): Promise<Outcome> {
  return runProgram(join(directory, place, 'node_modules/petrel/dist/src/cli/main.js'), args);
}

const deployment = join(project, 'examples/deployments/1-even.yaml');

describe('Petrel next to petrel-lab', () => {
  it.each([
    // Each run is a separate task. Together the runs take so long that more than the first thread gets work.
    ['on several threads', ['lcr', '--nodes', '1000', '--runs', '100', '--workers', '2']],
    ['with Petrel’s own agents', ['petrel', '--nodes', '5', '--runs', '5']],
  ])('runs the laboratory %s', async (_, args) => {
    const { code, stdout, stderr } = await petrel('both', 'lab', ...args, '-f', 'json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { results } = labSchema.parse(JSON.parse(stdout));
    expect(results.map(({ measures }) => measures.agreed?.mean)).toEqual([1]);
  });

  it('simulates what a file describes, and draws it', async () => {
    const plot = join(directory, 'plot.svg');
    const { code, stdout } = await petrel('both', 'simulate', deployment, '--plot', plot, '-f', 'json');
    expect(code).toBe(0);
    expect(simulationSchema.parse(JSON.parse(stdout)).of).toBe(deployment);
    expect(await readFile(plot, 'utf8')).toMatch(/^<svg /);
  });

  it('exits as for any other command where something is wrong', async () => {
    const unknown = await petrel('both', 'lab', 'nobody');
    expect(unknown).toMatchObject({ code: 2, stdout: '' });
    expect(unknown.stderr).toMatch(/^petrel: no such election: nobody/);
    const lost = await petrel('both', 'simulate', deployment, '--lose', 'node=nobody');
    expect(lost).toMatchObject({ code: 2, stdout: '' });
    expect(lost.stderr).toMatch(/^petrel: --lose: unknown node nobody/);
  });

  it('is of the same version', async () => {
    const { version } = await manifestOf(project);
    const lab = await manifestOf(join(project, 'packages/lab'));
    expect(lab).toMatchObject({ version, peerDependencies: { petrel: version } });
  });
});

describe('Petrel without petrel-lab', () => {
  it.each([
    ['petrel lab', ['lab', 'lcr', '--nodes', '5']],
    ['petrel simulate FILE', ['simulate', deployment]],
  ])('says what %s needs', async (command, args) => {
    const { version } = await manifestOf(project);
    const stderr = `petrel: ${command} requires a package that is not installed. Install it: npm install petrel-lab@${version}\n`;
    expect(await petrel('alone', ...args)).toEqual({ code: 2, stdout: '', stderr });
  });

  it('lists both commands, and takes nothing of it for any other', async () => {
    const help = await petrel('alone', '--help');
    expect(help.code).toBe(0);
    expect(help.stdout).toMatch(/^ {2}simulate .*^ {2}lab /ms);
    expect(await petrel('alone', 'agent', '--help')).toMatchObject({ code: 0, stderr: '' });
    expect((await petrel('alone', 'lab', '--help')).stdout).toContain('npm install petrel-lab@');
  });
});
