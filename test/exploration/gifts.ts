/**
 * Adds steps that are possible but may never happen: operators act, frozen nodes wake, broken links are
 * restored, agents restart. Only a stalled agent must wake eventually.
 */

import { withWatches } from './ensemble.js';
import { actor, isAlive, name, type Rules, type Steps, withAgent } from './step.js';
import { type Agent, newAgent, type World } from './world.js';

export function giftsOf(steps: Steps, { changes }: Rules): void {
  const { world } = steps;
  for (const agent of world.agents) {
    const found = giftFor(world, agent);
    if (found !== null) {
      steps.add({
        words: found.words,
        kind: agent.stalls ? 'due' : 'gift',
        actor: actor(agent, 'agent'),
        world: { ...found.world, moves: 0 },
      });
    }
  }
  changes.forEach((change, place) => {
    if ((world.changes & (1 << place)) !== 0) return;
    const changed = change.make(world);
    if (changed === null) return;
    const next = withWatches({ ...changed, changes: world.changes | (1 << place), moves: 0 }, world.tree);
    steps.add({ words: change.name, kind: 'gift', actor: 0, world: next });
  });
}

function giftFor(world: World, agent: Agent): { words: string; world: World } | null {
  const who = name(agent);
  const become = (words: string, next: Agent) => ({ words, world: withAgent(world, next) });
  if (agent.process === 'down') return { words: `${who} is started again`, world: restarted(world, agent) };
  if (agent.process === 'left') return null;
  if (agent.frozen) return become(`${who} wakes`, inTouch(world, { ...agent, frozen: false, stalls: false }));
  if (agent.cut) {
    const healed = become(`${who} is in touch again`, inTouch(world, { ...agent, cut: false }));
    // A server closes the earlier connection of a session. The ensemble refuses all writes from that
    // connection that are still under way.
    const adrift = world.adrift.filter(({ session }) => session !== agent.session);
    return { ...healed, world: { ...healed.world, adrift } };
  }
  if (agent.hook?.state === 'stuck') {
    return become(`what ${who} could not end, ends`, { ...agent, hook: { ...agent.hook, state: 'runs' } });
  }
  return null;
}

/**
 * Reconnects an agent, and renews its lease if its session is alive. A lease that has ended does not start
 * again.
 */
function inTouch(world: World, agent: Agent): Agent {
  const { lease, leadership } = agent;
  const leaseEnded = agent.leaseEnded || (leadership !== null && lease !== 'good');
  const isGood = isAlive(world, agent) && !agent.frozen && !agent.cut;
  return { ...agent, leaseEnded, lease: isGood ? 'good' : lease, awake: true };
}

function restarted(world: World, agent: Agent): World {
  const session = world.lastSession + 1n;
  const fresh = newAgent(agent.index, agent.node, session, agent.host);
  const old = { fencing: agent.fencing, work: agent.work };
  const { priority } = agent.registration;
  const registration = { ...fresh.registration, priority };
  const sessions = [...world.sessions, { id: session, agent: agent.index }];
  return {
    ...withAgent(world, { ...fresh, ...old, registration }),
    sessions,
    lastSession: session,
  };
}
