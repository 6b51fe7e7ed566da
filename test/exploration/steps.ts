/**
 * Generates every possible step of a world. An agent's loop is split into steps at its awaits. Hooks, leases,
 * sessions, operators and faults have steps, too. In another kind of step, time advances to the next instant
 * at which something is due.
 *
 * Agents are prompt: while one of them can continue, no time passes. There are two exceptions, which are
 * faults: an agent freezes, or a step takes long. Sessions and operators may take any time. A hook may take
 * any time up to its time limit.
 */
import { Decider, end } from './decide.js';
import { apply } from './ensemble.js';
import { faultsOf } from './faults.js';
import { giftsOf } from './gifts.js';
import { judgeWrite } from './invariants.js';
import { joinSteps } from './join.js';
import { asleep, isNext, lookAgain, partFor } from './look.js';
import { machineSteps } from './machine.js';
import { Reduction } from './reduce.js';
import {
  actor,
  actors,
  isAlive,
  name,
  type Rules,
  requestText,
  type Step,
  Steps,
  withAgent,
} from './step.js';
import { timeStep } from './time.js';
import { type Agent, newSession, type Request, type Round, type Tree, unread, type World } from './world.js';

export class Rulebook {
  readonly #rules: Rules;
  readonly #decider: Decider;
  readonly #reduction: Reduction;

  constructor(rules: Rules) {
    this.#rules = rules;
    this.#decider = new Decider(rules.setting, rules.hands, rules.readsClock);
    this.#reduction = new Reduction(rules, this.#decider);
  }

  stepsOf(world: World): readonly Step[] {
    const steps = new Steps(world);
    for (const agent of world.agents) this.#agentSteps(steps, agent);
    machineSteps(steps, this.#rules);
    const { shortSessions } = this.#rules.setting;
    const isBusy = steps.list.some(({ actor: who, kind }) => kind === 'due' && isPrompt(who, shortSessions));
    giftsOf(steps, this.#rules);
    if (world.faults > 0) faultsOf(steps, this.#rules);
    timeStep(steps, this.#rules, isBusy);
    return steps.list.flatMap((step) => this.#reduction.of(world, step));
  }

  #agentSteps(steps: Steps, agent: Agent): void {
    if (agent.process !== 'up') return;
    const { round } = agent;
    const add = (words: string, world: World, more: Partial<Step> = {}) =>
      steps.add({
        words: `${name(agent)} ${words}`,
        kind: 'due',
        actor: actor(agent, 'agent'),
        world,
        ...more,
      });
    const become = (words: string, next: Agent) => add(words, withAgent(steps.world, next));
    if (agent.frozen) {
      // The request that the frozen agent has sent is still under way, so it may be applied.
      if (round.at === 'sent' && isAlive(steps.world, agent)) this.#applied(steps, agent, round, true);
      return;
    }
    const { nowMs } = steps.world;
    switch (round.at) {
      case 'asleep':
        if (!agent.awake) return;
        if (agent.cut) {
          become('looks at the clock, out of touch', {
            ...this.#outOfTouch({ ...agent, awake: false }, nowMs),
          });
        } else if (!isAlive(steps.world, agent)) this.#learn(steps, agent);
        else if (agent.seat === null) this.#join(steps, agent);
        else if (!this.#claimsAhead(steps, agent)) this.#read(steps, { ...agent, awake: false }, 0, unread);
        return;
      case 'reading':
        if (agent.cut) become('reads no further, out of touch', lookAgain(agent));
        else if (!isAlive(steps.world, agent)) this.#learn(steps, agent);
        else this.#read(steps, agent, round.done, round.view);
        return;
      case 'read':
        this.#decide(steps, agent, round.view, '');
        return;
      case 'sent':
        if (!isAlive(steps.world, agent)) this.#learn(steps, agent);
        else this.#applied(steps, agent, round, false);
        return;
      case 'answered':
        become(
          `hears that ${round.answer === null ? 'nothing was written' : 'it is written'} (${round.request.purpose.for})`,
          this.#hear(agent, round, steps.world),
        );
    }
  }

  #outOfTouch(agent: Agent, nowMs: number): Agent {
    const next = this.#decider.outOfTouch(agent, nowMs);
    const hasLeft =
      next.drainUntilMs !== null && (next.leadership === null || next.leadership.stage === 'released');
    const mayLeave = hasLeft && (next.leadership !== null || nowMs >= (next.drainUntilMs ?? 0));
    return mayLeave ? { ...next, round: asleep, process: 'left' } : next;
  }

  /** Adds the step in which an agent notices that its session is over. */
  #learn(steps: Steps, agent: Agent): void {
    steps.add({
      words: `${name(agent)} hears that its session is over, and opens another`,
      kind: 'due',
      actor: actor(agent, 'agent'),
      world: newSession(steps.world, agent),
    });
  }

  /**
   * Adds the next step of an agent that joins. If nothing relevant can come in between, the step also applies
   * the agent's request.
   */
  #join(steps: Steps, agent: Agent): void {
    const joins = new Steps(steps.world);
    joinSteps(joins, agent, this.#decider);
    const isAlone = this.#reduction.joinsAlone(steps.world);
    for (const step of joins.list) {
      const next = step.world.agents[agent.index];
      if (isAlone && next?.round.at === 'sent') this.#applied(steps, next, next.round, false);
      else steps.list.push(step);
    }
  }

  /** Adds the step in which the published successor claims without a read. Returns false if it must read. */
  #claimsAhead(steps: Steps, before: Agent): boolean {
    const agent = this.#decider.claimAhead(before, steps.world.nowMs);
    if (agent === null) return false;
    steps.add({
      words: `${name(agent)} is notified, and claims without reading`,
      kind: 'due',
      actor: actor(agent, 'agent'),
      world: withAgent(steps.world, { ...agent, awake: true, notified: false, known: null }),
    });
    return true;
  }

  #read(steps: Steps, agent: Agent, done: number, before: Tree) {
    const { tree } = steps.world;
    const become = (words: string, next: Agent) =>
      steps.add({
        words: `${name(agent)} ${words}`,
        kind: 'due',
        actor: actor(agent, 'agent'),
        world: withAgent(steps.world, next),
      });
    if (done === 0 && (tree.elected === null || tree.config === null)) {
      const stopped = this.#decider.checkClaim(agent, tree.current, steps.world.nowMs);
      const request: Request = { purpose: { for: 'tree' }, operations: [{ create: 'tree' }] };
      return become('finds the tree gone', { ...stopped, round: { at: 'sent', request, rest: null } });
    }
    const isAtOnce = agent.part === 0 || (done === 0 && this.#reduction.readsAtOnce(steps.world));
    const until = isAtOnce || done > 0 ? 4 : 2;
    const view = {
      config: done < 1 ? tree.config : before.config,
      elected: done < 2 && until >= 2 ? tree.elected : before.elected,
      current: done < 3 && until >= 3 ? tree.current : before.current,
      successor: until === 4 ? tree.successor : before.successor,
      history: until === 4 ? tree.history : null,
      members: until === 4 ? tree.members : [],
      seats: until === 4 ? tree.seats : [],
    };
    const what = partTexts.slice(done, until).join(', ');
    if (until < 4) return become(`reads ${what}`, { ...agent, round: { at: 'reading', done: until, view } });
    const part = partFor(agent, view);
    if (part > agent.part) {
      return become(`reads ${what}, and sees that it has to read more`, { ...lookAgain(agent), part });
    }
    const known = isNext(agent, view) ? view : null;
    const read: Agent = { ...agent, part, notified: false, known, round: { at: 'read', view } };
    // Between a read and its decision, only the agent's own hook can end, or the agent can freeze.
    if (agent.hook !== null) return become(`reads ${what}`, read);
    this.#decide(steps, read, view, `reads ${what}, and `);
    if (steps.world.faults === 0) return;
    const { faults } = this.#rules;
    const stops = (how: string, next: Agent) => {
      const world = withAgent(steps.world, next);
      steps.add({
        words: `FAULT: ${name(agent)} reads ${what}, and ${how}`,
        kind: 'fault',
        actor: actor(agent, 'agent'),
        world: { ...world, faults: world.faults - 1, moves: 0 },
      });
    };
    if (faults.includes('freeze')) stops('freezes', { ...read, frozen: true });
    if (faults.includes('stall')) stops('stands still', { ...read, frozen: true, stalls: true });
  }

  #decide(steps: Steps, agent: Agent, view: Tree, before: string): void {
    const next = this.#decider.decide(agent, view, steps.world.nowMs);
    const isLost = agent.cut && next.round.at === 'sent';
    steps.add({
      words: `${name(agent)} ${before}${isLost ? 'decides, and cannot send' : decisionText(agent, next)}`,
      kind: 'due',
      actor: actor(agent, 'agent'),
      world: withAgent(steps.world, isLost ? lookAgain(next) : next),
    });
  }

  /**
   * Adds the step in which an agent's write is applied. The reply is a separate step only if the sender
   * freezes or never gets it. In all other cases, no other step depends on the reply. A late reply is then
   * equivalent to a late next step.
   */
  #applied(
    steps: Steps,
    agent: Agent,
    { request, rest }: Extract<Round, { at: 'sent' }>,
    isFrozen: boolean,
  ): void {
    const { world, answer } = apply(steps.world, request, agent.session);
    const { purpose } = request;
    const wrote = answer !== null && purpose.for !== 'clock';
    const isCounted = wrote && this.#rules.maxMoves !== null && decides(purpose);
    const after = wrote ? withNewest(isCounted ? withMove(world, steps.world) : world, request) : world;
    const { maxMoves } = this.#rules;
    const flaps =
      maxMoves !== null && after.moves > maxMoves ? `leadership moves ${after.moves} times by itself` : null;
    const woken = after.agents[agent.index] ?? agent;
    const answered = { at: 'answered', request, rest, answer } as const;
    const words = `${name(agent)}’s write is ${answer === null ? 'refused' : 'applied'} (${requestText(request)})`;
    const more = {
      violation: answer === null ? null : (judgeWrite(steps.world, agent, request, world) ?? flaps),
      isUnrest: wrote && unrest.includes(purpose.for),
    };
    const waits = { ...woken, round: answered };
    const heard = isFrozen ? waits : this.#hear(woken, answered, after);
    steps.add({
      words,
      kind: 'due',
      // A frozen sender's write needs another actor, because the write arrives although its sender does
      // nothing.
      actor: actor(agent, isFrozen ? 'lease' : 'agent'),
      world: withAgent(after, heard),
      ...more,
    });
    if (after.faults === 0 || isFrozen) return;
    const fault = (what: string, next: Agent) =>
      steps.add({
        words: `FAULT: ${words}, and ${what}`,
        kind: 'fault',
        actor: actor(agent, 'agent'),
        world: { ...withAgent(after, next), faults: after.faults - 1, moves: 0 },
        ...more,
      });
    const { faults } = this.#rules;
    const deaf = lookAgain(woken);
    if (faults.includes('lose')) fault('the answer is lost', deaf);
    if (faults.includes('cut')) fault('the answer lost with the connection', { ...deaf, cut: true });
    if (faults.includes('freeze')) fault('it freezes before it hears', { ...waits, frozen: true });
    if (faults.includes('stall')) {
      fault('it stands still before it hears', { ...waits, frozen: true, stalls: true });
    }
  }

  #hear(
    agent: Agent,
    { request, rest, answer }: Extract<Round, { at: 'answered' }>,
    { nowMs, skewMs }: World,
  ): Agent {
    const { purpose } = request;
    switch (purpose.for) {
      case 'claim':
      case 'decide-and-claim':
        if (answer !== null) return this.#decider.claimed(agent, answer.token, purpose, nowMs);
        return purpose.for === 'claim' ? lookAgain(agent) : this.#carryOn(agent, rest, nowMs);
      case 'adopt':
        if (answer === null) return lookAgain(agent);
        return lookAgain(this.#decider.begin(agent, purpose.token, purpose.elected, purpose.electedVersion));
      case 'ready': {
        const { leadership } = agent;
        const isOn = leadership?.stage === 'taken-over' || leadership?.stage === 'leading';
        if (answer === null || leadership === null || !isOn) return lookAgain(agent);
        return lookAgain({
          ...agent,
          leadership: { ...leadership, stage: 'leading', term: purpose.elected.term },
        });
      }
      case 'give-away':
        return answer === null ? lookAgain(agent) : lookAgain(end(agent));
      case 'hand-over':
        // The agent is leaving, and has left once it has handed over.
        if (answer !== null) return { ...end(agent), round: asleep, awake: false, process: 'left' };
        return lookAgain({ ...agent, handOverRefused: true });
      case 'register':
        return { ...lookAgain(agent), registered: answer !== null };
      case 'seat':
        return { ...lookAgain(agent), seat: answer?.seat ?? null };
      case 'give-up-seat':
        return { ...lookAgain(agent), seat: answer === null ? agent.seat : answer.seat };
      case 'publish':
      case 'tree':
        return lookAgain(agent);
      case 'unseat':
        return { ...agent, round: asleep };
      case 'clock': {
        const clock = { epochMs: epochOf(nowMs + skewMs), atMs: nowMs };
        return lookAgain({ ...agent, clock });
      }
      case 'remove-fenced':
        return this.#carryOn({ ...agent, memory: { ...agent.memory, fenced: null } }, rest, nowMs);
      default:
        return this.#carryOn(agent, rest, nowMs);
    }
  }

  #carryOn(agent: Agent, rest: Extract<Round, { at: 'sent' }>['rest'], nowMs: number): Agent {
    return rest === null ? lookAgain(agent) : this.#decider.carryOn({ ...agent, round: asleep }, rest, nowMs);
  }
}

/** Whether an elector makes a decision by the write. */
function decides(purpose: Request['purpose']): boolean {
  return purpose.for === 'elected' || purpose.for === 'decide-and-claim';
}

const unrest: readonly string[] = [
  'elected',
  'decide-and-claim',
  'hand-over',
  'publish-successor',
  'unseat',
  'claim',
  'change-sites',
];

function epochOf(ms: number): number {
  return Date.UTC(2026, 0, 1) + ms;
}

const partTexts = ['config', 'elected', 'current', 'nodes and seats'];

/** Whether an actor is prompt. Agents are. With short sessions, leases and sessions are prompt, too. */
function isPrompt(who: number, shortSessions: boolean): boolean {
  if (who === actors.time) return false;
  const what = who % actors.perAgent;
  return what === actors.agent || (shortSessions && (what === actors.lease || what === actors.session));
}

function decisionText(before: Agent, next: Agent): string {
  const { round, leadership } = next;
  if (next.process === 'left') return 'leaves the group';
  if (leadership?.stage !== before.leadership?.stage) {
    const sends = round.at === 'sent' ? `, and sends ${requestText(round.request)}` : '';
    return `decides: ${before.leadership?.stage ?? 'no leadership'} → ${leadership?.stage ?? 'no leadership'}${sends}`;
  }
  if (round.at === 'sent') return `decides: sends ${requestText(round.request)}`;
  return next.fencing !== before.fencing ? 'decides: starts the fence hook' : 'decides: nothing to do';
}

function withMove(world: World, before: World): World {
  const isMove = world.tree.elected?.value?.node !== before.tree.elected?.value?.node;
  return isMove ? { ...world, moves: world.moves + 1 } : world;
}

function withNewest(world: World, { purpose }: Request): World {
  const term = world.tree.elected?.value?.term ?? 0;
  if (!decides(purpose) && purpose.for !== 'hand-over') return world;
  if (term <= world.newestTerm) return world;
  return { ...world, newestTerm: term };
}
