/** How each kind of fault is done to the world, and taken back. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HookBehaviour } from '../support/hook-log.js';
import type { Directions } from '../support/proxy.js';
import { signal } from './agent-process.js';
import type { Fault, NodePart, ServerPart } from './plan.js';
import { sites, type World } from './world.js';

/** One fault, its victims found. */
export interface Trouble {
  readonly detail: string;
  /** Nodes that may be unable to lead because of it; none where it blocks them all. */
  readonly nodes: readonly string[];
  readonly ensemble?: boolean;
  readonly blocks?: boolean;
  /** Somebody may have to wait for a session to expire. */
  readonly silences?: boolean;
  begin(): Promise<void>;
  end?(): Promise<void>;
}

/** What is told of a fault while it goes on. */
export interface Tell {
  crash(what: string): void;
  note(what: string): void;
}

/** Nodes of which a process is in trouble already: two faults would take each other back. */
export type Taken = Set<string>;

/** Null when there is nobody to do it to. */
export async function troubleOf(
  fault: Fault,
  world: World,
  taken: Taken,
  tell: Tell,
): Promise<Trouble | null> {
  switch (fault.kind) {
    case 'kill-agent':
    case 'stop-agent':
    case 'freeze-agent':
    case 'kill-guardian':
    case 'freeze-guardian':
    case 'kill-both':
    case 'freeze-machine':
    case 'orphan-workload':
      return processTrouble(fault, world, taken, tell);
    case 'cut-node':
    case 'slow-node':
    case 'reset-node':
      return networkTrouble(fault, world);
    case 'cut-everybody':
      return cutEverybody(world);
    case 'kill-server':
    case 'freeze-server':
    case 'isolate-server':
    case 'slow-server':
    case 'reset-server':
      return serverTrouble(fault, world, tell);
    case 'kill-majority':
      return killMajority(world, tell);
    case 'sick-node':
      return sickNode(fault, world);
    case 'bad-takeover':
    case 'bad-release':
      return hookTrouble(fault, world, tell);
    default:
      return people(fault, world, tell);
  }
}

type Of<Kind extends Fault['kind']> = Extract<Fault, { kind: Kind }>;

type KillFault = Of<'kill-agent' | 'kill-guardian' | 'kill-both' | 'orphan-workload'>;
type FreezeFault = Of<'freeze-agent' | 'freeze-guardian' | 'freeze-machine'>;
type ProcessFault = KillFault | FreezeFault | Of<'stop-agent'>;

async function processTrouble(
  fault: ProcessFault,
  world: World,
  taken: Taken,
  tell: Tell,
): Promise<Trouble | null> {
  const node = await nodeOf(fault.on, world, taken);
  if (node === null) return null;
  const trouble = { nodes: [node], detail: `${fault.on} ${node}` };
  switch (fault.kind) {
    case 'stop-agent':
      return { ...trouble, ...stopOf(node, world, tell) };
    case 'freeze-agent':
    case 'freeze-guardian':
    case 'freeze-machine':
      return { ...trouble, silences: true, ...freezeOf(fault.kind, node, world) };
    default:
      return killOf(fault.kind, node, trouble, world, tell);
  }
}

type Doing = Pick<Trouble, 'begin' | 'end'>;

const leavePatienceMs = 15_000;

function stopOf(node: string, world: World, tell: Tell): Doing {
  const agent = world.agent(node);
  return {
    begin: async () => agent.term(),
    end: async () => {
      if (!(await Promise.race([agent.exited, sleep(leavePatienceMs)]))) {
        tell.note(`${node} had not left ${leavePatienceMs} ms after SIGTERM and its time`);
        await agent.kill9();
      }
      await world.run(node);
    },
  };
}

/** A killed agent is started again by its guardian; a node whose guardian was killed, when the fault is over. */
function killOf(
  kind: KillFault['kind'],
  node: string,
  trouble: Pick<Trouble, 'nodes' | 'detail'>,
  world: World,
  tell: Tell,
): Trouble | null {
  const { agent, guardian, sentinel } = world.agent(node);
  if (agent === null) return null;
  const kill = async (what: string, ...pids: (number | null)[]) => {
    tell.crash(`${what} of ${node}`);
    if (pids.includes(guardian)) world.agent(node).doom();
    else world.expectDeath(node);
    for (const pid of pids) if (pid !== null) signal(pid, 'SIGKILL');
  };
  const end = () => world.run(node);
  switch (kind) {
    case 'kill-agent':
      return { ...trouble, begin: () => kill('agent', agent) };
    case 'kill-guardian':
      return { ...trouble, begin: () => kill('guardian', guardian), end };
    case 'kill-both':
      return { ...trouble, silences: true, begin: () => kill('guardian and agent', guardian, agent), end };
    case 'orphan-workload':
      return {
        ...trouble,
        silences: true,
        begin: () => kill('sentinel, guardian and agent', sentinel, guardian, agent),
        end,
      };
  }
}

function freezeOf(kind: FreezeFault['kind'], node: string, world: World): Doing {
  const thaws: (() => void)[] = [];
  return {
    begin: async () => {
      const { agent, guardian } = world.agent(node);
      // An agent takes a guardian that hangs for dead, and kills it.
      if (kind !== 'freeze-agent') world.agent(node).doom();
      const pids = [
        ...(kind === 'freeze-guardian' || agent === null ? [] : [agent]),
        ...(kind === 'freeze-machine' ? await world.hooks.pidsOf(node) : []),
        ...(kind === 'freeze-agent' ? [] : [guardian]),
      ];
      for (const pid of pids) thaws.push(world.freeze(pid));
    },
    end: async () => {
      for (const thaw of thaws) thaw();
    },
  };
}

async function networkTrouble(
  fault: Of<'cut-node' | 'slow-node' | 'reset-node'>,
  world: World,
): Promise<Trouble | null> {
  const node = await nodeOf(fault.on, world, new Set());
  if (node === null) return null;
  const links = world.links(node);
  const trouble = { nodes: [node], silences: true, end: () => links.heal() };
  const who = `${fault.on} ${node}`;
  switch (fault.kind) {
    case 'cut-node':
      return {
        ...trouble,
        detail: `${who}, ${lossNames[fault.lost]}`,
        // Its session may live on by what it says, and with it the seat of an elector that hears nothing.
        blocks: fault.lost === 'toClient',
        begin: async () => void links.cut(fault.lost),
      };
    case 'slow-node':
      return {
        ...trouble,
        detail: `${who}, ${fault.delayMs} ms each way`,
        begin: async () => links.delay(fault.delayMs),
      };
    case 'reset-node':
      return { nodes: [node], silences: true, detail: who, begin: async () => links.reset() };
  }
}

const lossNames: Readonly<Record<Directions, string>> = {
  both: 'both ways',
  toServer: 'what it says is lost',
  toClient: 'what it is told is lost',
};

function cutEverybody(world: World): Trouble {
  return {
    nodes: [],
    detail: 'both ways',
    blocks: true,
    silences: true,
    begin: async () => world.nodes.forEach((node) => void world.links(node).cut()),
    end: async () => {
      for (const node of world.nodes) await world.links(node).heal();
    },
  };
}

async function serverTrouble(
  fault: Of<'kill-server' | 'freeze-server' | 'isolate-server' | 'slow-server' | 'reset-server'>,
  world: World,
  tell: Tell,
): Promise<Trouble | null> {
  const index = await serverOf(fault.on, world);
  const server = world.servers[index];
  if (server === undefined) return null;
  // It is over when the server serves again.
  const heal = async () => {
    await world.peers.heal();
    await server.ready();
  };
  const trouble = { nodes: [], ensemble: true, silences: true, end: heal };
  const who = `${fault.on}, server ${index}`;
  switch (fault.kind) {
    case 'kill-server':
      return {
        ...trouble,
        detail: who,
        begin: async () => {
          tell.crash(`server ${index}`);
          await server.kill9();
        },
        end: () => server.restart(),
      };
    case 'freeze-server':
      return {
        ...trouble,
        detail: who,
        begin: () => server.pause(),
        end: async () => {
          await server.resume();
          await server.ready();
        },
      };
    case 'isolate-server':
      return {
        ...trouble,
        detail: `${who}, ${fault.lost} lost`,
        begin: () => world.peers.isolate(index, fault.lost),
      };
    case 'slow-server':
      return {
        ...trouble,
        detail: `${who}, ${fault.delayMs} ms each way`,
        begin: async () => world.peers.delay(index, fault.delayMs),
      };
    case 'reset-server':
      return { ...trouble, detail: who, begin: async () => world.peers.reset(index) };
  }
}

async function killMajority(world: World, tell: Tell): Promise<Trouble> {
  const first = await serverOf('ensemble-leader', world);
  const victims = [first, (first + 1) % world.servers.length];
  return {
    nodes: [],
    ensemble: true,
    blocks: true,
    silences: true,
    detail: `servers ${victims.join(' and ')}`,
    begin: async () => {
      for (const index of victims) {
        tell.crash(`server ${index}`);
        await world.servers[index]?.kill9();
      }
    },
    end: async () => {
      await Promise.all(victims.map((index) => world.servers[index]?.restart()));
    },
  };
}

const badTakeovers: Readonly<Record<Of<'bad-takeover'>['how'], HookBehaviour>> = {
  fails: { exitCode: 1 },
  'fails late': { exitCode: 1, takeMs: 2_500 },
  hangs: { hang: true },
  'is slow': { takeMs: 2_500 },
  'is stubborn': { stubborn: true },
};

const badReleases: Readonly<Record<Of<'bad-release'>['how'], HookBehaviour>> = {
  fails: { exitCode: 1 },
  hangs: { hang: true },
  'is slow': { takeMs: 1_500 },
  'leaves the workload': { leave: true },
  'leaves a stubborn workload': { leave: true, exitCode: 1, takeMs: 300 },
};

async function hookTrouble(
  fault: Of<'bad-takeover' | 'bad-release'>,
  world: World,
  tell: Tell,
): Promise<Trouble | null> {
  const leader = world.client.leader?.node ?? null;
  if (leader === null) return null;
  const others = world.nodes.filter((node) => node !== leader);
  const isTakeover = fault.kind === 'bad-takeover';
  const phase = isTakeover ? 'takeover' : 'release';
  const nodes = isTakeover ? others.slice(0, fault.count) : [leader];
  const behaviour = isTakeover ? badTakeovers[fault.how] : badReleases[fault.how];
  const [heir = ''] = others;
  return {
    nodes,
    detail: `${nodes.join(', ')}: ${fault.how}; ${leader} is to hand over to ${heir}`,
    begin: async () => {
      for (const node of nodes) await world.hooks.behave(node, phase, behaviour);
      if (fault.kind === 'bad-release' && fault.how === 'leaves a stubborn workload') {
        await world.hooks.behave(leader, 'takeover', { stubborn: true });
      }
      await asOperator(['switchover', '--to', heir], world, tell);
    },
    end: async () => {
      for (const node of new Set([...nodes, leader])) {
        for (const each of ['takeover', 'release'] as const) await world.hooks.behave(node, each, {});
      }
    },
  };
}

async function sickNode({ on }: Of<'sick-node'>, world: World): Promise<Trouble | null> {
  const node = await nodeOf(on, world, new Set());
  if (node === null) return null;
  return {
    nodes: [node],
    detail: `${on} ${node}`,
    begin: () => world.setHealth(node, false),
    end: () => world.setHealth(node, true),
  };
}

type PeopleFault = Of<
  'switchover' | 'failover' | 'lower-site' | 'disable-site' | 'prefer-site' | 'pause' | 'drain' | 'configure'
>;

async function people(fault: PeopleFault, world: World, tell: Tell): Promise<Trouble | null> {
  const leader = world.client.leader?.node ?? null;
  const site = sites[leader ?? ''];
  if (leader === null || site === undefined) return null;
  const inSite = world.nodes.filter((node) => sites[node] === site);
  const elsewhere = world.nodes.filter((node) => sites[node] !== site);
  const heir = world.nodes[(world.nodes.indexOf(leader) + 1) % world.nodes.length] ?? leader;
  const does = (...commands: string[][]) => ({
    detail: `leader ${leader}; ${commands.map((args) => args.join(' ')).join('; ')}`,
    begin: async () => {
      for (const args of commands) await asOperator(args, world, tell);
    },
    end: () => world.restoreConfig(),
  });
  switch (fault.kind) {
    case 'switchover': {
      const to = fault.to === 'other' ? ['--to', heir] : [];
      return { nodes: [], ...does(['switchover', ...to]), end: async () => {} };
    }
    case 'failover':
      return { nodes: [], ...does(['failover', '--to', heir]), end: async () => {} };
    case 'lower-site':
      return { nodes: inSite, ...does(['site', 'priority', site, '0', '--for', '2m']) };
    case 'disable-site':
      return { nodes: inSite, ...does(['site', 'disable', site]) };
    case 'prefer-site': {
      const other = sites[elsewhere[0] ?? ''] ?? site;
      return {
        nodes: [],
        ...does(['config', 'set', 'failback', 'auto'], ['site', 'priority', other, '200']),
      };
    }
    case 'pause':
      return { nodes: [], blocks: true, ...does(['pause']) };
    case 'drain': {
      const node = (await nodeOf(fault.on, world, new Set())) ?? leader;
      return { nodes: [node], ...does(['node', 'drain', node]) };
    }
    case 'configure':
      return { nodes: [], ...does(['config', 'set', fault.key, fault.value]) };
  }
}

/** What a person would be told when it did not work goes into the notes: servers may be out of reach just then. */
async function asOperator(args: readonly string[], world: World, tell: Tell): Promise<void> {
  const outcome = await world.petrel([...args, '--yes', '--no-wait']);
  if (outcome !== 'done') tell.note(`petrel ${args.join(' ')} ${outcome}`);
}

/** Takes the node that has a part now, or, when it is taken, the next one that is not. Null: all are. */
async function nodeOf(part: NodePart, world: World, taken: Taken): Promise<string | null> {
  const leader = world.client.leader?.node;
  const elector = part === 'leader' ? undefined : (await world.view.seated().catch(() => []))[0];
  const wanted =
    part === 'leader'
      ? leader
      : part === 'elector'
        ? elector
        : world.nodes.findLast((node) => node !== leader && node !== elector);
  const from = Math.max(0, world.nodes.indexOf(wanted ?? ''));
  const inOrder = [...world.nodes.slice(from), ...world.nodes.slice(0, from)];
  const free = inOrder.find((node) => !taken.has(node)) ?? null;
  if (free !== null) taken.add(free);
  return free;
}

async function serverOf(part: ServerPart, world: World): Promise<number> {
  const leads = await Promise.all(world.servers.map((server) => server.isLeader()));
  return Math.max(0, part === 'ensemble-leader' ? leads.indexOf(true) : leads.indexOf(false));
}
