/** Adds events on the machines and at the ensemble: hooks end, leases end, sessions end, fence hooks act. */
import { takeoverDetail } from '../core/builders.js';
import { apply, endSession } from './ensemble.js';
import { judgeWrite } from './invariants.js';
import { actor, name, type Rules, requestText, type Steps, withAgent } from './step.js';
import type { Agent, World } from './world.js';

export function machineSteps(steps: Steps, rules: Rules): void {
  for (const agent of steps.world.agents) {
    hookSteps(steps, agent);
    leaseSteps(steps, agent);
    sessionSteps(steps, agent, rules);
    if (agent.fencing !== null) fenceSteps(steps, agent);
  }
  adriftSteps(steps);
}

function hookSteps(steps: Steps, agent: Agent): void {
  const { hook } = agent;
  if (hook === null || agent.process !== 'up' || agent.frozen) return;
  const isStopped = hook.state === 'hangs' && hook.untilMs <= steps.world.nowMs;
  if (hook.state !== 'runs' && !isStopped) return;
  const isTakeover = hook.phase === 'takeover';
  const ended = isTakeover ? (isStopped ? takeoverFailed(agent) : takeoverDone(agent)) : released(agent);
  steps.add({
    words: `the ${hook.phase} hook of ${name(agent)} ${isStopped ? 'is stopped at its time limit' : 'ends'}`,
    kind: 'due',
    // A hook that hangs is stopped exactly at its time limit. This step must therefore be as prompt as a step
    // of the agent.
    actor: actor(agent, isStopped ? 'agent' : 'hook'),
    world: withAgent(steps.world, ended),
  });
}

function takeoverDone(agent: Agent): Agent {
  const { leadership } = agent;
  if (leadership === null) return { ...agent, hook: null };
  const lastTakeover = { token: String(leadership.token), durationMs: 1 };
  return {
    ...agent,
    hook: null,
    awake: true,
    leadership: { ...leadership, stage: 'taken-over' },
    registration: { ...agent.registration, lastTakeover },
  };
}

export function takeoverFailed(agent: Agent): Agent {
  const { leadership } = agent;
  if (leadership === null) return { ...agent, hook: null };
  return { ...agent, hook: null, awake: true, leadership: { ...leadership, failure: takeoverDetail } };
}

export function released(agent: Agent): Agent {
  const { leadership } = agent;
  return {
    ...agent,
    hook: null,
    work: null,
    awake: true,
    leadership: leadership && { ...leadership, stage: 'released' },
  };
}

const started = ['taking-over', 'taken-over', 'leading', 'releasing'];

function leaseSteps(steps: Steps, agent: Agent) {
  const { process, stalls, cut, lease, leadership, work } = agent;
  const frozen = agent.frozen && !stalls;
  const isOrphan = work !== null && leadership?.token !== work;
  if (!isOrphan && (lease === 'over' || (!frozen && !cut && process === 'up'))) return;
  const add = (words: string, next: Agent) =>
    steps.add({
      words: `${words} ${name(agent)}`,
      kind: 'due',
      actor: actor(agent, 'lease'),
      world: withAgent(steps.world, next),
    });
  if (isOrphan) return add('the supervisor kills what is left of', { ...agent, work: null });
  if (process !== 'up') return;
  if (leadership === null && work === null) return;
  if (cut && !frozen && lease === 'good') {
    add('the lease is due for release at', { ...agent, lease: 'due', leaseEnded: true, awake: true });
  }
  const isStarted = leadership !== null && started.includes(leadership.stage);
  add('the lease ends, and what was left is killed, at', {
    ...agent,
    lease: 'over',
    leaseEnded: true,
    work: null,
    hook: null,
    awake: true,
    leadership: isStarted ? { ...leadership, stage: 'released' } : leadership,
  });
}

function sessionSteps(steps: Steps, agent: Agent, { withoutLease }: Rules): void {
  const { world } = steps;
  for (const { id, agent: index } of world.sessions) {
    if (index !== agent.index) continue;
    const isPresent = id === agent.session && agent.process === 'up';
    if (isPresent && (!agent.frozen || agent.stalls) && !agent.cut) continue;
    const isProven =
      agent.work === null && (!isPresent || agent.leadership === null || agent.lease === 'over');
    // A new incarnation starts nothing until all processes of earlier ones are dead. An old session may
    // therefore end without proof.
    const isOld = id !== agent.session && ownsNothing(world, id);
    if (!isProven && !withoutLease && !isOld) continue;
    const ended = endSession(world, id);
    const next = isPresent ? withAgent(ended, { ...at(ended, agent), lease: 'over' }) : ended;
    steps.add({
      words: `the session of ${name(agent)} ends at the ensemble`,
      kind: 'due',
      actor: actor(agent, 'session'),
      world: next,
    });
  }
}

function ownsNothing({ tree }: World, session: bigint): boolean {
  return tree.current?.owner !== session;
}

function at(world: World, { index }: Agent): Agent {
  const found = world.agents[index];
  if (found === undefined) throw new Error(`no agent ${index}`);
  return found;
}

/** Applies writes whose sender has died or was cut off. */
function adriftSteps(steps: Steps): void {
  const { world } = steps;
  world.adrift.forEach(({ session, request }, place) => {
    const sender = world.agents.find(
      (one) => one.index === world.sessions.find(({ id }) => id === session)?.agent,
    );
    if (sender === undefined) return;
    const { world: after, answer } = apply(world, request, session);
    const adrift = world.adrift.filter((_, other) => other !== place);
    const term = answer === null ? 0 : (after.tree.elected?.value?.term ?? 0);
    steps.add({
      words: `a write of ${name(sender)} arrives late and is ${answer === null ? 'refused' : 'applied'} (${requestText(request)})`,
      kind: 'gift',
      actor: actor(sender, 'lease'),
      world: { ...after, adrift, newestTerm: Math.max(term, world.newestTerm) },
      violation: answer === null ? null : judgeWrite(world, { ...sender, session }, request, after),
    });
  });
}

/** Lets a fence hook power the target's machine off. The hook reports its success in a later step. */
function fenceSteps(steps: Steps, agent: Agent): void {
  const { fencing } = agent;
  if (fencing === null) return;
  const { world } = steps;
  const { fence, hit } = fencing;
  if (!hit) {
    const killed = world.agents.reduce(
      (next, target) => (target.node === fence.node ? withAgent(next, crashed(at(next, target))) : next),
      world,
    );
    const sent = adriftOf(world.agents.filter((target) => target.node === fence.node));
    const own = { ...at(killed, agent), fencing: agent.process === 'up' ? { ...fencing, hit: true } : null };
    steps.add({
      words: `the fence hook of ${name(agent)} powers ${fence.node} off`,
      kind: agent.process === 'up' && !agent.frozen ? 'due' : 'gift',
      actor: actor(agent, 'fence'),
      world: { ...withAgent(killed, own), adrift: [...killed.adrift, ...sent] },
    });
    return;
  }
  if (agent.process !== 'up' || agent.frozen) return;
  const next = {
    ...agent,
    memory: { ...agent.memory, fenced: fence },
    fencing: null,
    fencingToken: null,
    awake: true,
  };
  steps.add({
    words: `the fence hook of ${name(agent)} reports that ${fence.node} is dead`,
    kind: 'due',
    actor: actor(agent, 'fence'),
    world: withAgent(world, next),
  });
}

/** Returns the agent after the end of its process and its workload. */
function crashed(agent: Agent): Agent {
  if (agent.process !== 'up') return { ...agent, work: null };
  return { ...down(agent), work: null };
}

/**
 * Returns the agent after the end of its process. The workload that the process started may continue to run.
 */
export function down(agent: Agent): Agent {
  return {
    ...agent,
    process: 'down',
    frozen: false,
    stalls: false,
    cut: false,
    awake: false,
    round: { at: 'asleep' },
    leadership: null,
    hook: null,
    seat: null,
    registered: false,
    wakeAtMs: null,
    drainUntilMs: null,
    silent: null,
  };
}

/** Returns the requests of these agents that are still under way. */
export function adriftOf(gone: readonly Agent[]): World['adrift'] {
  return gone.flatMap(({ round, session }) =>
    round.at === 'sent' ? [{ session, request: round.request }] : [],
  );
}
