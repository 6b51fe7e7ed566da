/** Models the passing of time. */
import { actors, type Rules, type Steps } from './step.js';
import type { World } from './world.js';

/** Adds a step in which time advances to the next instant at which something is due. */
export function timeStep(steps: Steps, { faults }: Rules, isBusy: boolean): void {
  const { world } = steps;
  const maySlow = faults.includes('slow') && world.faults > 0;
  if (isBusy && !maySlow) return;
  const atMs = nextDueMs(world);
  if (atMs === null) return;
  const agents = world.agents.map((agent) => {
    if (agent.process !== 'up') return agent;
    const wakes = agent.wakeAtMs !== null && agent.wakeAtMs <= atMs;
    const isOverdue = agent.drainUntilMs !== null && agent.drainUntilMs === atMs;
    if (!wakes && !isOverdue) return agent;
    return { ...agent, awake: true, wakeAtMs: wakes ? null : agent.wakeAtMs };
  });
  steps.add({
    words: `${(atMs - world.nowMs) / 1000} s pass${isBusy ? ', and somebody is slow' : ''}`,
    kind: isBusy ? 'fault' : 'due',
    actor: actors.time,
    world: { ...world, agents, nowMs: atMs, faults: world.faults - (isBusy ? 1 : 0) },
  });
}

function nextDueMs({ agents, nowMs }: World): number | null {
  const dues: number[] = [];
  for (const { process, frozen, wakeAtMs, drainUntilMs, hook, fencing } of agents) {
    if (process !== 'up' || frozen) continue;
    // A hook that does not hang must end before its time limit passes.
    if (hook?.state === 'runs' && hook.untilMs <= nowMs) return null;
    if (fencing !== null && fencing.untilMs <= nowMs) return null;
    const own = [wakeAtMs, drainUntilMs, hook?.state === 'stuck' ? null : hook?.untilMs, fencing?.untilMs];
    dues.push(...own.filter((due) => due != null).filter((due) => due > nowMs));
  }
  return dues.length === 0 ? null : Math.min(...dues);
}
