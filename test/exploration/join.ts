/** Models how an agent without a seat registers and gets a seat. Mirrors `src/agent/membership.ts`. */
import type { Decider } from './decide.js';
import { actor, name, type Steps, withAgent } from './step.js';
import type { Agent, Purpose, Request } from './world.js';

export function joinSteps(steps: Steps, before: Agent, decider: Decider) {
  const { world } = steps;
  const { tree, nowMs } = world;
  const agent = decider.outOfTouch(before, nowMs);
  const add = (words: string, next: Agent) =>
    steps.add({
      words: `${name(agent)} ${words}`,
      kind: 'due',
      actor: actor(agent, 'agent'),
      world: withAgent(world, next),
    });
  const send = (words: string, purpose: Purpose, ...operations: Request['operations']) =>
    add(words, { ...agent, round: { at: 'sent', request: { purpose, operations }, rest: null } });
  if (agent !== before) return add('goes on with its leadership', agent);
  if (agent.drainUntilMs !== null && agent.leadership === null) {
    return add('leaves', { ...agent, awake: false, process: 'left' });
  }
  if (tree.elected === null) return send('finds the tree gone', { for: 'tree' }, { create: 'tree' });
  const value = agent.registration;
  const there = tree.members.find(({ node }) => node === agent.node);
  if (!agent.registered) {
    if (there === undefined) return send('registers', { for: 'register' }, { create: 'member', value });
    const { node, version } = there;
    if (there.owner === agent.session) {
      return send('registers again', { for: 'register' }, { set: 'member', node, value, version });
    }
    if (there.value?.incarnation === value.incarnation) {
      const drop = { delete: 'member', node, version } as const;
      return send('registers in its new session', { for: 'register' }, drop, { create: 'member', value });
    }
    if (there.value?.host !== value.host) {
      const gone = {
        ...agent,
        awake: false,
        work: null,
        hook: null,
        leadership: null,
        process: 'left',
      } as const;
      return add('finds its name in use on another machine, and leaves', gone);
    }
    // The registration belongs to an earlier incarnation of this node. The agent waits until the session of
    // that incarnation ends.
    return;
  }
  const held = tree.seats.find(({ owner }) => owner === agent.session);
  if (held !== undefined) return add('finds its seat', { ...agent, seat: held.id });
  send('asks for a seat', { for: 'seat' }, { create: 'seat', node: agent.node });
}
