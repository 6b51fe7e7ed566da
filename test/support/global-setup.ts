/** Once for a test run: says which ZooKeeper is used, and offers what tests share. */
import type { TestProject } from 'vitest/node';
import { buildCommandLine } from './build.js';
import { serveOncePerRun } from './once-per-run.js';
import { chooseZooKeeper, type ZooKeeperChoice } from './zookeeper/choose.js';
import type { TestServer } from './zookeeper/server.js';
import { startServerOf } from './zookeeper/start.js';

declare module 'vitest' {
  interface ProvidedContext {
    zooKeeper: ZooKeeperChoice;
    oncePerRunUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const choice = await chooseZooKeeper();
  process.stdout.write(`ZooKeeper: ${choice.description}\n`);
  let shared: TestServer | undefined;
  const tasks = await serveOncePerRun({
    build: buildCommandLine,
    zookeeper: async () => {
      shared = await startServerOf(choice, {});
      return shared.connectString;
    },
  });
  project.provide('zooKeeper', choice);
  project.provide('oncePerRunUrl', tasks.url);
  return async () => {
    await tasks.stop();
    await shared?.stop();
  };
}
