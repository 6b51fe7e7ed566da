/**
 * The systems that are compared. Each entry defines how to start one process of the system, and the path of
 * its queue.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { z } from 'zod';

const run = promisify(execFile);
const peers = fileURLToPath(new URL('peers', import.meta.url));
const jarDir = '/usr/share/java';
const jars = [
  ...['zookeeper', 'zookeeper-jute', 'zookeeper-recipes-election', 'metrics-core', 'snappy-java'],
  ...['curator-client', 'curator-framework', 'curator-recipes', 'guava'],
  ...['slf4j-api', 'slf4j-nop', 'netty-handler', 'netty-transport', 'netty-common', 'netty-buffer'],
  ...['netty-codec', 'netty-resolver', 'netty-transport-native-epoll', 'netty-transport-native-unix-common'],
].map((name) => join(jarDir, `${name}.jar`));

/** Resources that are created once and shared by all processes. */
export interface Workshop {
  /** Directory for settings, state and logs. */
  readonly directory: string;
  /** Path of the built command line. */
  readonly main: string;
  /** Path of the pipe that hooks write to. */
  readonly pipe: string;
}

export interface Seat {
  readonly connect: string;
  readonly path: string;
  readonly sessionMs: number;
  /** Name of the participant. If there are several, the prefix of their names. */
  readonly name: string;
  readonly count: number;
  /**
   * Whether the leader runs a workload that must be dead before another node may lead. Only Petrel's agent
   * does.
   */
  readonly hasWorkload: boolean;
  /**
   * Whether the process will be killed, so that the session timeout must be `sessionMs`. This matters for a
   * tool that has two commands, one of them with a fixed timeout.
   */
  readonly isKilled: boolean;
}

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Contender {
  readonly name: string;
  readonly system: 'petrel' | 'zookeeper' | 'etcd';
  /** Whether one process can contain many participants, each with its own session. */
  readonly holdsMany: boolean;
  /** Whether another process on the node survives the process that has the session with ZooKeeper. */
  readonly isGuarded: boolean;
  /** Returns the reason why the contender cannot be measured on this machine. Returns null if it can. */
  missing(): Promise<string | null>;
  prepare?(workshop: Workshop): Promise<void>;
  command(seat: Seat, workshop: Workshop): Promise<Command>;
  /** Returns the path below which each participant has one entry. */
  queue(path: string): string;
  /**
   * Whether this output line means that the program leads. Only for programs with their own output format.
   */
  leadsBy?(line: string): boolean;
}

/** What follows the names of the contenders of another version of Petrel. */
const other = ', other version';

/** Returns the contenders of another version of Petrel, which is built in this checkout. */
export function otherVersion(checkout: string): readonly Contender[] {
  return [petrelAgent(checkout), petrelLibrary(checkout)];
}

/** Petrel's library in Node.js as usual, and with all code compiled when it is loaded, and kept. */
export const libraries: readonly Contender[] = [
  petrelLibrary(null),
  petrelLibrary(null, ['--no-lazy', '--no-flush-bytecode']),
];

/** Returns the command line of a built checkout. */
async function mainOf(checkout: string): Promise<string> {
  const text = await readFile(join(checkout, 'package.json'), 'utf8');
  return join(
    checkout,
    z.object({ bin: z.object({ petrel: z.string() }) }).parse(JSON.parse(text)).bin.petrel,
  );
}

/** Returns the path of the file in which the agent's workload records its process id. */
export function workloadFile({ directory }: Workshop, name: string): string {
  return join(directory, `${name}.workload`);
}

/** Petrel's agent. `version` is the checkout that contains it. Null for this one. */
function petrelAgent(version: string | null): Contender {
  return {
    name: `Petrel, agent${version === null ? '' : other}`,
    system: 'petrel',
    holdsMany: false,
    isGuarded: true,
    missing: async () => whyNoProgram('bash'),
    queue: (path) => `${path}/election`,
    async command({ connect, path, sessionMs, name, hasWorkload }, workshop) {
      const { directory, pipe } = workshop;
      const main = version === null ? workshop.main : await mainOf(version);
      const hook = ['/bin/bash', join(peers, 'petrel-hook.sh')];
      const left = hasWorkload ? [workloadFile(workshop, name)] : [];
      const hooks = {
        onTakeover: [...hook, 'leads', pipe, ...left],
        onRelease: [...hook, 'released', pipe],
      };
      const settings = join(directory, `${name}.yaml`);
      await writeFile(
        settings,
        stringify({ zookeeper: connect, root: path, nodeId: name, site: 'here', hooks }),
      );
      const env = {
        LC_ALL: 'C',
        HOME: directory,
        PETREL_LISTEN: 'off',
        PETREL_SESSION_TIMEOUT: `${sessionMs}ms`,
        PETREL_STATE_DIR: join(directory, name),
      };
      return { program: process.execPath, args: [main, 'agent', '--config', settings], env };
    },
  };
}

/**
 * Petrel's library. `version` is the checkout that contains it. Null for this one. `nodeFlags` are options of
 * Node.js.
 */
function petrelLibrary(version: string | null, nodeFlags: readonly string[] = []): Contender {
  return {
    name: ['Petrel, library', ...nodeFlags].join(' ') + (version === null ? '' : other),
    system: 'petrel',
    holdsMany: true,
    isGuarded: false,
    missing: async () => null,
    queue: (path) => `${path}/election`,
    async command({ connect, path, sessionMs, name, count }) {
      const program = join(version === null ? peers : join(version, 'bench/peers'), 'petrel-library.mjs');
      const args = [...nodeFlags, program, connect, path, `${sessionMs}`, name, `${count}`];
      return { program: process.execPath, args };
    },
  };
}

function javaContender(name: string, recipe: string): Contender {
  return {
    name,
    system: 'zookeeper',
    holdsMany: true,
    isGuarded: false,
    async missing() {
      const jar = jars.find((path) => !existsSync(path));
      if (jar !== undefined)
        return `there is no ${jar} (Debian: apt-get install libcurator-recipes-java libzookeeper-java)`;
      return whyNoProgram('javac') ?? whyNoProgram('java');
    },
    queue: (path) => path,
    prepare: compileJava,
    async command({ connect, path, sessionMs, name: participant, count }, { directory }) {
      const classPath = [join(directory, 'classes'), ...jars].join(':');
      const args = [recipe, connect, path, `${sessionMs}`, participant, `${count}`];
      return { program: 'java', args: ['-cp', classPath, 'Elections', ...args] };
    },
  };
}

async function compileJava({ directory }: Workshop): Promise<void> {
  const classes = join(directory, 'classes');
  if (existsSync(join(classes, 'Elections.class'))) return;
  await mkdir(classes, { recursive: true });
  await run('javac', ['-nowarn', '-d', classes, '-cp', jars.join(':'), join(peers, 'Elections.java')]);
}

const kazoo: Contender = {
  name: 'kazoo Election',
  system: 'zookeeper',
  holdsMany: true,
  isGuarded: false,
  async missing() {
    const imported = await run('/usr/bin/python3', ['-c', 'import kazoo']).then(
      () => true,
      () => false,
    );
    return imported ? null : '/usr/bin/python3 has no kazoo (Debian: apt-get install python3-kazoo)';
  },
  queue: (path) => path,
  async command({ connect, path, sessionMs, name, count }) {
    const program = join(peers, 'kazoo-election.py');
    return { program: '/usr/bin/python3', args: [program, connect, path, `${sessionMs}`, name, `${count}`] };
  },
};

/**
 * The command `etcdctl elect` has a fixed timeout of 60 s. `etcdctl lock` waits in the same queue, and
 * accepts a timeout.
 */
const etcdctl: Contender = {
  name: 'etcdctl elect',
  system: 'etcd',
  holdsMany: false,
  isGuarded: false,
  missing: async () => whyNoProgram('etcd') ?? whyNoProgram('etcdctl'),
  queue: (path) => path,
  async command({ connect, path, sessionMs, name, isKilled }) {
    const ttl = `${Math.ceil(sessionMs / 1000)}`;
    const what = isKilled ? ['lock', '--ttl', ttl, path] : ['elect', path, name];
    return { program: 'etcdctl', args: ['--endpoints', connect, ...what], env: { ETCDCTL_API: '3' } };
  },
  leadsBy: (line) => line.startsWith('/'),
};

export const contenders: readonly Contender[] = [
  petrelAgent(null),
  petrelLibrary(null),
  javaContender('Curator LeaderLatch', 'latch'),
  javaContender('Curator LeaderSelector', 'selector'),
  kazoo,
  javaContender("ZooKeeper's LeaderElectionSupport", 'recipe'),
  etcdctl,
];

function whyNoProgram(name: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => existsSync(join(folder, name))) ? null : `there is no ${name} on the PATH`;
}
