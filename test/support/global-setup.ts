/**
 * Runs once per project of the test run. Reports which ZooKeeper the tests use, and serves the results that
 * tests share.
 */
import type { TestProject } from 'vitest/node';
import { buildCommandLine, buildModules } from './build.js';
import { patient } from './led-group.js';
import { serveOncePerRun } from './once-per-run.js';
import { chooseZooKeeper, type ZooKeeperChoice, zooKeeperKinds } from './zookeeper/choose.js';
import type { TestEnsemble, TestServer } from './zookeeper/server.js';
import { startEnsembleOf, startServerOf } from './zookeeper/start.js';

declare module 'vitest' {
  interface ProvidedContext {
    zooKeeper: ZooKeeperChoice;
    oncePerRunUrl: string;
  }
}

/**
 * The projects share one build. The first project to be set up stores the URL of its server in this variable.
 */
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
  const shared: (TestEnsemble | TestServer)[] = [];
  const kept = async (starting: Promise<TestEnsemble | TestServer>) => {
    const started = await starting;
    shared.push(started);
    return started.connectString;
  };
  const start = (kind: ZooKeeperChoice['kind']) => kept(startServerOf({ ...real, kind }, patient));
  const startSeveral = (kind: ZooKeeperChoice['kind']) => {
    const [choice, options] = [{ ...real, kind }, { tickTimeMs: 250 }];
    return kept(kind === 'embedded' ? startServerOf(choice, options) : startEnsembleOf(choice, 3, options));
  };
  const tasks = await serveOncePerRun({
    build: buildCommandLine,
    modules: buildModules,
    ...Object.fromEntries(zooKeeperKinds.map((kind) => [`zookeeper-${kind}`, () => start(kind)])),
    ...Object.fromEntries(zooKeeperKinds.map((kind) => [`ensemble-${kind}`, () => startSeveral(kind)])),
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
