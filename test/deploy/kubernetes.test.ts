/**
 * The manifest is valid for Kubernetes, and its container starts. Checks this as far as it is possible
 * without a cluster.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { startDevelopmentServer } from '../../src/testing.js';
import { startProcess } from '../support/agents.js';
import { haproxyExample } from '../support/haproxy.js';
import { freePorts } from '../support/ports.js';
import { until } from '../support/until.js';

const project = fileURLToPath(new URL('../../', import.meta.url));
const documents = parseAllDocuments(readFileSync(join(project, 'deploy/kubernetes/web.yaml'), 'utf8')).map(
  (document): unknown => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  },
);

const headSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
});
const heads = documents.map((document) => headSchema.parse(document));

function find<T>(kind: string, name: string, schema: z.ZodType<T>): T {
  const index = heads.findIndex((head) => head.kind === kind && head.metadata.name === name);
  return schema.parse(documents[index]);
}

const probeSchema = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const containerSchema = z.object({
  args: z.array(z.string()),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
  readinessProbe: probeSchema,
  livenessProbe: probeSchema,
});
const setSchema = z.object({
  spec: z.object({ template: z.object({ spec: z.object({ containers: z.tuple([containerSchema]) }) }) }),
});
const configSchema = z.object({ data: z.object({ 'petrel.yaml': z.string() }) });

/**
 * Returns the compiler's errors for these objects as literals of the API's types, which allow no other
 * fields.
 */
async function typeErrors(objects: readonly unknown[]): Promise<string[]> {
  // The directory is below the project, so that the compiler finds the types.
  await mkdir(join(project, '.petrel'), { recursive: true });
  const directory = await mkdtemp(join(project, '.petrel/manifest-'));
  const texts = objects.map((object) => {
    const { apiVersion, kind } = headSchema.parse(object);
    const module = apiVersion === 'v1' ? 'v1' : apiVersion;
    return `import type { I${kind} } from 'kubernetes-models/${module}';\nexport const it: I${kind} = ${JSON.stringify(object)};\n`;
  });
  try {
    const files = texts.map((_, index) => join(directory, `${index}.ts`));
    await Promise.all(files.map((file, index) => writeFile(file, texts[index] ?? '')));
    const compiler = join(project, 'node_modules/typescript/bin/tsc');
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--types',
      'node',
    ];
    return await new Promise((resolve) => {
      execFile(process.execPath, [compiler, ...options, ...files], (_error, stdout) => {
        resolve(stdout.split('\n').filter((line) => line.includes('error')));
      });
    });
  } finally {
    await rm(directory, { recursive: true });
  }
}

describe('the manifest for Kubernetes', () => {
  it('has no field that the API does not know, nor one of another type', async () => {
    const wrong = JSON.parse(
      JSON.stringify(documents[1]).replace('"podManagementPolicy"', '"podManagmentPolicy"'),
    );
    const errors = await typeErrors([...documents, wrong]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(new RegExp(`${documents.length}\\.ts.*podManagmentPolicy`));
  });

  it('has services for all servers that HAProxy is told of', async () => {
    const config = await readFile(join(haproxyExample, 'haproxy.cfg'), 'utf8');
    const servers = new Set([...config.matchAll(/^ {2}server \S+ (\w+):8080/gm)].map(([, host]) => host));
    const services = heads.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name);
    expect([...servers]).toEqual(['a', 'b', 'c']);
    expect(services).toEqual(expect.arrayContaining([...servers]));
  });

  it('has a container that comes up with these arguments, and answers its probes', async () => {
    await using zookeeper = await startDevelopmentServer();
    const [container] = find('StatefulSet', 'web', setSchema).spec.template.spec.containers;
    const directory = await mkdtemp('/tmp/petrel-kubernetes-');
    const token = 't'.repeat(32);
    const [agent = 0, service = 0] = await freePorts(2);
    const settings = find('ConfigMap', 'web-petrel', configSchema).data['petrel.yaml'];
    const here = settings
      .replace(/^zookeeper: .*/m, `zookeeper: ${zookeeper.connectString}`)
      .replaceAll('/etc/petrel', directory)
      .replace('/var/lib/petrel', directory)
      .replace('0.0.0.0:8008', `127.0.0.1:${agent}`);
    await writeFile(join(directory, 'petrel.yaml'), here);
    await writeFile(join(directory, 'auth'), `digest:web:${'p'.repeat(32)}\n`);
    await writeFile(join(directory, 'token'), `${token}\n`);
    // Kubernetes changes defaultMode to this mode because of fsGroup.
    for (const name of ['auth', 'token']) await chmod(join(directory, name), 0o440);
    const args = container.args.map((word) =>
      word.replace('/etc/petrel', directory).replace('/srv/', haproxyExample),
    );
    const node = await startProcess(args, {
      PETREL_SITE: 'machine-1.example',
      PETREL_STATE_DIR: directory,
      // The manifest sets these, so clear the defaults of the tests.
      PETREL_LISTEN: '',
      PETREL_HTTP_TOKEN: '',
      PORT: String(service),
    });
    try {
      await node.logged(/^READY/);
      expect(container.ports).toContainEqual({ name: 'petrel', containerPort: 8008 });
      for (const { httpGet } of [container.readinessProbe, container.livenessProbe]) {
        expect(httpGet.port).toBe('petrel');
        const answer = await fetch(`http://127.0.0.1:${agent}${httpGet.path}`);
        expect(answer.status, httpGet.path).toBe(200);
      }
      const paused = await fetch(`http://127.0.0.1:${agent}/pause`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
      });
      expect(paused.status, await paused.text()).toBe(202);
      const served = await until(async () => (await fetch(`http://127.0.0.1:${service}/`)).text());
      expect(served).toMatch(/ in term 1\n$/);
      node.term();
      await node.exited;
    } finally {
      await node.stop();
      await rm(directory, { recursive: true });
    }
  });
});
