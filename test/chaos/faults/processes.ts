/** What is done to agents and keepers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { signal, type World } from '../world.js';
import { nodeOf, type Of, type Taken, type Tell, type Trouble } from './trouble.js';

type KeeperFault = Of<'kill-keeper' | 'freeze-keeper' | 'freeze-machine' | 'orphan-workload'>;
type ProcessFault = Of<'kill-agent' | 'stop-agent' | 'freeze-agent'> | KeeperFault;

export async function processTrouble(
  fault: ProcessFault,
  world: World,
  taken: Taken,
  tell: Tell,
): Promise<Trouble | null> {
  const node = await nodeOf(fault.on, world, taken);
  if (node === null) return null;
  const trouble = { nodes: [node], detail: `${fault.on} ${node}` };
  const agent = world.agent(node);
  switch (fault.kind) {
    case 'kill-agent':
      return {
        ...trouble,
        begin: async () => {
          tell.crash(`agent ${node}`);
          await agent.kill9();
        },
        end: () => world.run(node),
      };
    case 'stop-agent':
      return {
        ...trouble,
        begin: async () => agent.term(),
        end: async () => {
          if (!(await Promise.race([agent.exited, sleep(leavePatienceMs)]))) {
            tell.note(`${node} had not left ${leavePatienceMs} ms after SIGTERM and its time`);
            await agent.kill9();
          }
          await world.run(node);
        },
      };
    case 'freeze-agent':
      return { ...trouble, begin: async () => agent.freeze(), end: async () => agent.thaw() };
    default:
      return keeperTrouble(fault.kind, node, trouble, world, tell);
  }
}

const leavePatienceMs = 15_000;

async function keeperTrouble(
  kind: KeeperFault['kind'],
  node: string,
  trouble: Pick<Trouble, 'nodes' | 'detail'>,
  world: World,
  tell: Tell,
): Promise<Trouble | null> {
  const agent = world.agent(node);
  const keeper = await agent.keeper();
  if (keeper === null) return null;
  if (kind === 'kill-keeper') {
    return {
      ...trouble,
      begin: async () => {
        tell.crash(`keeper of ${node}`);
        signal(keeper, 'SIGKILL');
      },
    };
  }
  if (kind === 'orphan-workload') {
    return {
      ...trouble,
      begin: async () => {
        tell.crash(`agent and keeper of ${node}`);
        signal(keeper, 'SIGKILL');
        await agent.kill9();
      },
      end: () => world.run(node),
    };
  }
  const thaws: (() => void)[] = [];
  return {
    ...trouble,
    begin: async () => {
      if (kind === 'freeze-machine') {
        agent.freeze();
        for (const pid of await world.hooks.pidsOf(node)) thaws.push(world.freezeStranger(pid));
      }
      thaws.push(world.freezeStranger(keeper));
    },
    end: async () => {
      for (const thaw of thaws) thaw();
      if (kind === 'freeze-machine') agent.thaw();
    },
  };
}
