/** Once for a project of the test run: says which ZooKeeper is used, and offers what tests share. */
import type { TestProject } from 'vitest/node';
import { buildCommandLine, buildTypes } from './build.js';
import { serveOncePerRun } from './once-per-run.js';
import { chooseZooKeeper, type ZooKeeperChoice, zooKeeperKinds } from './zookeeper/choose.js';
import type { TestServer } from './zookeeper/server.js';
import { startServerOf } from './zookeeper/start.js';

declare module 'vitest' {
  interface ProvidedContext {
    zooKeeper: ZooKeeperChoice;
    oncePerRunUrl: string;
  }
}

/** The projects share one build: the first to be set up leaves here where it is served. */
const urlVariable = 'PETREL_TEST_ONCE_PER_RUN';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [embedded, real] = await Promise.all([chooseZooKeeper('embedded'), chooseZooKeeper('auto')]);
  project.provide('zooKeeper', project.name === 'embedded' ? embedded : real);
  const servedAt = process.env[urlVariable];
  if (servedAt !== undefined) {
    project.provide('oncePerRunUrl', servedAt);
    return async () => {};
  }
  process.stdout.write(`ZooKeeper: ${descriptionOf(embedded, real)}\n`);
  const shared: TestServer[] = [];
  const start = async (kind: ZooKeeperChoice['kind']) => {
    const server = await startServerOf({ ...real, kind }, {});
    shared.push(server);
    return server.connectString;
  };
  const tasks = await serveOncePerRun({
    build: buildCommandLine,
    types: buildTypes,
    ...Object.fromEntries(zooKeeperKinds.map((kind) => [`zookeeper-${kind}`, () => start(kind)])),
  });
  process.env[urlVariable] = tasks.url;
  project.provide('oncePerRunUrl', tasks.url);
  return async () => {
    await tasks.stop();
    await Promise.all(shared.map((server) => server.stop()));
  };
}

function descriptionOf(embedded: ZooKeeperChoice, real: ZooKeeperChoice): string {
  if (embedded.kind === real.kind) return `${real.description}, for all tests`;
  return `${real.description}, for the tests of a real one; ${embedded.description}, for all others`;
}
