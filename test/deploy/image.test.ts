/** Checks the image's parts that need no Docker: its labels, and its health check against a running agent. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { startProcess } from '../support/agents.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { freePorts } from '../support/ports.js';

const project = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string) => readFileSync(`${project}${name}`, 'utf8');
const dockerfile = read('Dockerfile');
const check = 'deploy/docker/health.mjs';

function healthCode(listen: string): Promise<number> {
  return new Promise((resolve) => {
    const env = { ...process.env, PETREL_LISTEN: listen };
    const child = execFile(process.execPath, [`${project}${check}`], { env }, () =>
      resolve(child.exitCode ?? -1),
    );
  });
}

it('the image has the version of the package', () => {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(read('package.json')));
  expect(dockerfile).toContain(`org.opencontainers.image.version="${version}"`);
});

it('the image’s health check succeeds exactly while the agent answers', async () => {
  expect(dockerfile).toContain(`"/petrel/${check}"`);
  const [port = 0] = await freePorts(1);
  const agent = await startProcess(['agent'], {
    PETREL_ZOOKEEPER: await sharedZooKeeper(),
    PETREL_ROOT: uniqueRoot('image'),
    PETREL_NODE_ID: 'a1',
    PETREL_LISTEN: `0.0.0.0:${port}`,
  });
  try {
    await agent.logged(/^joined/);
    expect(await healthCode(`0.0.0.0:${port}`)).toBe(0);
  } finally {
    await agent.stop();
  }
  expect(await healthCode(`0.0.0.0:${port}`)).toBe(1);
  expect(await healthCode('off')).toBe(0);
});
