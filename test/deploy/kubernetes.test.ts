/**
 * The manifest is valid for Kubernetes, and its container starts. Checks this as far as it is possible
 * without a cluster.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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
const base = join(project, 'deploy/kubernetes/base');
const monitoring = join(project, 'deploy/kubernetes/monitoring');

function documentsIn(path: string): unknown[] {
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document): unknown => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });
}

const kustomizationSchema = z.strictObject({
  apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
  kind: z.literal('Kustomization'),
  namespace: z.string(),
  resources: z.array(z.string()),
  configMapGenerator: z.array(z.strictObject({ name: z.string(), files: z.array(z.string()) })).default([]),
  images: z.array(z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() })).default([]),
});

function kustomizationIn(directory: string): z.output<typeof kustomizationSchema> {
  return kustomizationSchema.parse(documentsIn(join(directory, 'kustomization.yaml'))[0]);
}

const kustomization = kustomizationIn(base);
const documents = kustomization.resources.flatMap((name) => documentsIn(join(base, name)));

const labelsSchema = z.record(z.string(), z.string());
const headSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string(), labels: labelsSchema }),
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
  spec: z.object({
    selector: z.object({ matchLabels: labelsSchema }),
    template: z.object({
      metadata: z.object({ labels: labelsSchema }),
      spec: z.object({ containers: z.tuple([containerSchema]) }),
    }),
  }),
});
const monitorSchema = z.object({
  apiVersion: z.literal('monitoring.coreos.com/v1'),
  kind: z.literal('PodMonitor'),
  spec: z.strictObject({
    selector: z.strictObject({ matchLabels: labelsSchema }),
    podMetricsEndpoints: z.tuple([
      z.strictObject({ port: z.string(), path: z.literal('/metrics'), interval: z.string() }),
    ]),
  }),
});

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
    const setIndex = heads.findIndex(({ kind }) => kind === 'StatefulSet');
    const wrong = JSON.parse(
      JSON.stringify(documents[setIndex]).replace('"podManagementPolicy"', '"podManagmentPolicy"'),
    );
    const errors = await typeErrors([...documents, wrong]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(new RegExp(`${documents.length}\\.ts.*podManagmentPolicy`));
  });

  it('has services for all servers in the configuration of HAProxy', async () => {
    const config = await readFile(join(base, 'haproxy.cfg'), 'utf8');
    const servers = new Set([...config.matchAll(/^ {2}server \S+ (\S+):8080/gm)].map(([, host]) => host));
    const services = heads.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name);
    expect([...servers]).toEqual(['web-0', 'web-1', 'web-2']);
    expect(services).toEqual(expect.arrayContaining([...servers]));
  });

  it('has the HAProxy of the example, but for the names of the servers', async () => {
    const read = (directory: string, name: string) => readFile(join(directory, name), 'utf8');
    const renamed = (await read(haproxyExample, 'haproxy.cfg'))
      .replace('a, b and c', 'web-0, web-1 and web-2')
      .replaceAll(/(?<= )([abc]) \1:|(?<=track leader\/)[abc]/g, (text) => {
        const name = `web-${'abc'.indexOf(text.charAt(0))}`;
        return text.length === 1 ? name : `${name} ${name}:`;
      });
    expect(await read(base, 'haproxy.cfg')).toBe(renamed);
    expect(await read(base, 'wait-for-leader.lua')).toBe(await read(haproxyExample, 'wait-for-leader.lua'));
  });

  it('has the standard labels on every object, and selects pods by labels that they have', () => {
    for (const { kind, metadata } of heads) {
      expect(Object.keys(metadata.labels), `${kind} ${metadata.name}`).toContain('app.kubernetes.io/part-of');
    }
    const { selector, template } = find('StatefulSet', 'web', setSchema).spec;
    const { spec } = monitorSchema.parse(documentsIn(join(monitoring, 'pod-monitor.yaml'))[0]);
    expect(template.metadata.labels).toMatchObject(selector.matchLabels);
    expect(template.metadata.labels).toMatchObject(spec.selector.matchLabels);
    const ports = template.spec.containers[0].ports.map(({ name }) => name);
    expect(ports).toContain(spec.podMetricsEndpoints[0].port);
  });

  it('is one namespace with all files that it names', () => {
    expect(heads).toContainEqual(expect.objectContaining({ kind: 'Namespace' }));
    expect(kustomizationIn(monitoring)).toMatchObject({ namespace: kustomization.namespace });
    const mounted = JSON.stringify(documents);
    for (const { name, files } of kustomization.configMapGenerator) {
      expect(mounted).toContain(`"configMap":{"name":"${name}"}`);
      for (const file of files) expect(existsSync(join(base, file)), file).toBe(true);
    }
  });

  it('has a container that comes up with these arguments, and answers its probes', async () => {
    await using zookeeper = await startDevelopmentServer();
    const [container] = find('StatefulSet', 'web', setSchema).spec.template.spec.containers;
    const directory = await mkdtemp('/tmp/petrel-kubernetes-');
    const token = 't'.repeat(32);
    const [agent = 0, service = 0] = await freePorts(2);
    const settings = await readFile(join(base, 'petrel.yaml'), 'utf8');
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
