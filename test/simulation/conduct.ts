/** Rules about what nodes report and do on their machines. The rules are checked after every event. */
import { durationMs } from '../../src/model/duration.js';
import type { Guards } from './guards.js';
import { type ClaimSeen, inSlot, type Picture, type RegistrationSeen, slotsIn } from './ledger.js';
import type { Group } from './machine.js';
import type { Node } from './node.js';
import { hookMs } from './pace.js';
import type { Rule, RuleContext, Step } from './rules.js';
import { sticks } from './setup.js';
import { stepIn } from './slot-rule-context.js';

/**
 * Maximum time that a node may lead without a workload. The agent is notified when its workload is killed.
 */
const idleMs = 500;
/** Maximum time in which a supervisor must end what an agent left behind, unless a hook takes longer. */
const orphanedMs = 600;

export interface Permissions {
  readonly guards: Guards;
  /**
   * Whether an operator or a fence took the claim from its owner so recently that the owner's lease may still
   * last.
   */
  isPermitted(token: bigint): boolean;
}

/** A claim that its owner keeps although another node is elected. */
interface Held {
  readonly token: bigint;
  readonly sinceMs: number;
  untilMs: number;
  isFenced: boolean;
}

export class Conduct {
  readonly #context: RuleContext;
  readonly #permissions: Permissions;
  readonly #takenOver = new Set<bigint>();
  /**
   * Tokens under which nodes report that they lead. A token moves to `#ended` when its node stops reporting
   * it while running.
   */
  readonly #led = new Map<Node, bigint>();
  readonly #ended = new Set<bigint>();
  readonly #idleSinceMs = new Map<Node, number>();
  /** Instants at which leases became due for release, by token, on the clock of the owner's machine. */
  readonly #endedLeases = new Map<bigint, number>();
  /** Claims that are currently kept although another node is elected, by slot. */
  readonly #heldSince = new Map<number, Held>();
  /** The last such claim of each node. */
  readonly #holds = new Map<string, Held>();

  constructor(context: RuleContext, permissions: Permissions) {
    this.#context = context;
    this.#permissions = permissions;
  }

  /** Forgets all tokens, because a restored ensemble may issue them again. */
  restored(): void {
    this.#takenOver.clear();
    this.#led.clear();
    this.#ended.clear();
    this.#endedLeases.clear();
    this.#heldSince.clear();
    this.#holds.clear();
  }

  /** Checks every node that may lead, or all nodes. Must be called after every event. */
  look(asksAll = false): void {
    const slots = slotsIn(this.#context.picture());
    const owners = new Set(slots.map(({ claim }) => claim?.content.node));
    for (const node of this.#context.nodes) {
      this.#revives(node);
      if (!owners.has(node.name) && !this.#led.has(node) && !asksAll) continue;
      this.#ask(node);
      this.#outlives(node);
    }
  }

  #ask(node: Node): void {
    const before = this.#led.get(node) ?? null;
    if (node.process?.isRunning !== true) {
      if (!node.isUp) this.#led.delete(node);
      this.#idleSinceMs.delete(node);
      return;
    }
    const status = node.agent?.status;
    if (status?.leads !== true || status.fencingToken === null) {
      if (before !== null) this.#ended.add(before);
      this.#led.delete(node);
      this.#idleSinceMs.delete(node);
      return;
    }
    const token = status.fencingToken;
    this.#led.set(node, token);
    const { violate } = this.#context;
    if ((node.process?.clock.monotonicMs() ?? 0) >= (status.lease?.releaseAtMs ?? 0))
      violate(2, `${node.name} says that it leads beyond its lease`);
    if (this.#ended.has(token)) violate(2, `${node.name} leads again under token ${token}, which had ended`);
    const standing = inSlot(this.#context.picture(), status.slot ?? 1).claim?.id;
    if (standing !== token && !this.#permissions.isPermitted(token))
      violate(2, `${node.name} says that it leads under token ${token}, and its claim is gone`);
    this.#minds(node, token);
  }

  /**
   * Whether the node was fenced. A fence ends its workload as a power failure does, so the agent is not
   * notified.
   */
  #isFenced({ name }: Node): boolean {
    return this.#holds.get(name)?.isFenced === true;
  }

  /** Checks that a lease is not extended after it has become due for release. */
  #revives(node: Node): void {
    if (node.process?.isRunning !== true) return;
    const { fencingToken: token, lease } = node.agent?.status ?? {};
    if (token == null || lease == null) return;
    const endedAtMs = this.#endedLeases.get(token);
    if (endedAtMs === undefined) {
      if (node.process.clock.monotonicMs() >= lease.releaseAtMs)
        this.#endedLeases.set(token, lease.releaseAtMs);
    } else if (lease.releaseAtMs > endedAtMs)
      this.#context.violate(9, `the lease of ${node.name} under token ${token} had ended, and runs again`);
  }

  /** Checks that nothing of a leadership is alive after its lease, if a supervisor exists that can end it. */
  #outlives(node: Node): void {
    const status = node.agent?.status;
    const { machine } = node;
    const endsAtMs = status?.lease?.endsAtMs ?? -1;
    if (status?.fencingToken == null || endsAtMs < 0) return;
    const now = machine.clock.startMs + this.#context.world.nowMs * machine.clock.rate;
    const isKept = [...machine.supervisors].some(
      (supervisor) => supervisor.isRunning && !supervisor.wasFrozen,
    );
    if (!isKept || now <= endsAtMs) return;
    const group = machine.groups.find(({ token, isUndying }) => token === status.fencingToken && !isUndying);
    if (group?.phase === 'takeover')
      this.#context.violate(2, `what ${node.name} runs under token ${group.token} outlives its lease`);
  }

  #minds(node: Node, token: bigint): void {
    const { nowMs } = this.#context.world;
    if (node.machine.groups.some((group) => group.hasWorkload && group.token === token)) {
      this.#idleSinceMs.delete(node);
      return;
    }
    const sinceMs = this.#idleSinceMs.get(node) ?? nowMs;
    this.#idleSinceMs.set(node, sinceMs);
    if (nowMs - sinceMs > idleMs && !this.#isFenced(node))
      this.#context.violate(9, `${node.name} says that it leads, and its workload is dead for ${idleMs} ms`);
  }

  started(node: Node, group: Group): void {
    const { violate, setup } = this.#context;
    const { phase, token } = group;
    const status = node.saysItLeads ? node.agent?.status : undefined;
    if (phase === 'release' && status?.stage === 'releasing' && status.fencingToken === token)
      violate(2, `${node.name} says that it leads while its release starts`);
    if (phase === 'fence') this.#fences(node, group.target);
    if (phase !== 'takeover') return;
    if (this.#takenOver.has(token))
      violate(9, `the takeover hook of ${node.name} starts twice under token ${token}`);
    this.#takenOver.add(token);
    if (setup.hasPrepare && !node.machine.succeeded.has(prepared))
      violate(9, `${node.name} takes over, and has not prepared`);
  }

  /** Checks that the elector notices a failed hook soon and decides again. */
  failed(node: Node, { phase }: Group): void {
    const own = slotsIn(this.#context.picture()).find(({ elected }) => elected?.content.node === node.name);
    if ((phase !== 'prepare' && phase !== 'takeover') || own === undefined) return;
    const { slot, decisions } = own;
    const { process } = node;
    // The node first ends what it began, and reports the failure. Only after that can the elector decide.
    const { answerMs, promptMs } = this.#context;
    const withinMs = 2 * answerMs + (phase === 'prepare' ? hookMs : 3 * hookMs);
    this.#context.soon(withinMs, 9, () => {
      const now = inSlot(this.#context.picture(), slot);
      const isSame = now.decisions === decisions && now.config?.content.paused == null;
      if (!isSame || process?.isAlive !== true || node.machine.misbehaves(promptMs, 'release')) return null;
      return `the ${phase} hook of ${node.name} has failed, and nothing follows from that`;
    });
  }

  /**
   * Tracks how long a claim has been kept although its session is not that of the elected node's
   * registration.
   */
  #held(step: Step): void {
    const { was, is, nowMs } = step;
    const { claim, slot } = is;
    const isHeld = claim !== null && candidateOf(is)?.owner !== claim.owner;
    const before = this.#heldSince.get(slot);
    if (before !== undefined && (!isHeld || before.token !== claim.id)) {
      before.untilMs = nowMs;
      this.#heldSince.delete(slot);
    }
    if (!isHeld) return;
    const known = this.#heldSince.get(slot);
    const isNew = known === undefined;
    const held = known ?? this.#newHeld(claim, { slot, nowMs });
    if (!isNew && was.decisions === is.decisions) return;
    const leftMs = Math.max(0, held.sinceMs + 1.1 * this.#patienceMs() - nowMs);
    this.#context.soon(leftMs + this.#context.promptMs, 9, () =>
      this.#unfenced(held, { slot, decisions: is.decisions }),
    );
  }

  #newHeld({ id: token, content }: ClaimSeen, { slot, nowMs }: { slot: number; nowMs: number }): Held {
    const held: Held = { token, sinceMs: nowMs, untilMs: Number.POSITIVE_INFINITY, isFenced: false };
    this.#holds.set(content.node, held);
    this.#heldSince.set(slot, held);
    return held;
  }

  #patienceMs(): number {
    const { timeouts } = this.#context.setup.config;
    return durationMs(timeouts.release) + 2 * durationMs(timeouts.grace);
  }

  #unfenced(held: Held, { slot, decisions }: { slot: number; decisions: number }): string | null {
    const { setup, nodes, promptMs } = this.#context;
    const now = inSlot(this.#context.picture(), slot);
    const { claim } = now;
    const isDue = this.#heldSince.get(slot) === held && !held.isFenced && now.decisions === decisions;
    // A claim of the candidate's earlier incarnation is not fenced, and neither is any claim while the
    // candidate is absent.
    const isAnothers = now.elected?.content.node !== claim?.content.node;
    if (!isDue || !setup.hasFence || !isAnothers || candidateOf(now) === null) return null;
    if (claim?.owner === now.seats[0]?.owner && now.seats.length > 1)
      return `${claim?.content.node} keeps the claim for too long, and goes on electing`;
    // A node runs one hook at a time, so an elector whose own hook does not end cannot fence.
    const elector = nodes.find(({ session }) => session === now.seats[0]?.owner);
    if (elector?.machine.misbehaved(promptMs) !== false) return null;
    return `${claim?.content.node} keeps the claim for too long, and is not fenced`;
  }

  /** Checks that a fence has a reason. The target may have released its claim after the elector read it. */
  #fences(node: Node, target: string): void {
    const { promptMs } = this.#context;
    // A very recent decision does not count, because the elector may not have seen it yet.
    const isElected = slotsIn(this.#context.picture()).some(
      ({ elected }) =>
        elected?.content.node === target && this.#context.world.nowMs - elected.changedMs > promptMs,
    );
    if (isElected) this.#context.violate(9, `${node.name} fences ${target}, which is elected`);
    const held = this.#holds.get(target);
    const { nowMs } = this.#context.world;
    if (held !== undefined) held.isFenced = true;
    const untilMs = Math.min(held?.untilMs ?? 0, nowMs);
    const isLate = this.#context.isCalm && nowMs - untilMs > promptMs;
    const heldMs = held === undefined || isLate ? 0 : untilMs - held.sinceMs;
    if (heldMs < this.#patienceMs() * 0.9)
      this.#context.violate(
        9,
        `${node.name} fences ${target}, which has had ${Math.round(heldMs)} ms to release`,
      );
  }

  /** Checks that the supervisor ends what a killed agent left behind. */
  orphaned(node: Node): void {
    const { machine, process } = node;
    const supervisors = [...machine.supervisors].filter((supervisor) => supervisor.isRunning);
    const { guards } = this.#permissions;
    const groups = machine.groups.filter(
      (group) => group.phase === 'takeover' && guards.agentOf(group) === process,
    );
    if (supervisors.length === 0 || machine.misbehaves(0)) return;
    this.#context.world.after(orphanedMs, () => {
      if (
        machine.misbehaves(orphanedMs) ||
        supervisors.some((supervisor) => supervisor.isFrozen || supervisor.wasFrozen)
      )
        return;
      const left = groups.find((group) => machine.groups.includes(group) && guards.isGuarded(node, group));
      if (left !== undefined)
        this.#context.violate(9, `${node.name} is dead, and what it ran under token ${left.token} lives on`);
    });
  }

  /** Checks that the node with the lowest seat elects. */
  #takesOffice({ was, is }: Step): void {
    const { setup, nodes } = this.#context;
    const [seat] = is.seats;
    if (seat === undefined || seat.name === was.seats[0]?.name || sticks(setup)) return;
    this.#context.soon(this.#context.promptMs, 9, () => {
      const node = nodes.find(({ session }) => session === seat.owner);
      const isLowest = this.#context.picture().seats[0]?.name === seat.name;
      const isIdle = node?.process?.isRunning === true && node.agent?.status.elector === false;
      return isLowest && isIdle ? `${node.name} has the lowest seat, and does not elect` : null;
    });
  }

  /** Applies these rules to a commit, together with the rules of the tree. */
  readonly rule: Rule = (step) => {
    this.look(true);
    this.#takesOffice(step);
    this.#sessionEnded(step);
    for (const { slot } of slotsIn(step.is)) this.#ofSlot(stepIn(step, slot));
  };

  #ofSlot(step: Step): void {
    this.#claimed(step);
    this.#held(step);
    this.#becameReady(step);
  }

  /**
   * Checks that a lease ends before its session can end. The ensemble's leader may end a session as soon as
   * the session's timeout has passed.
   */
  #sessionEnded({ ended, commit, nowMs }: Step): void {
    const { transaction } = commit;
    if (ended === null || transaction.kind !== 'close' || transaction.silence === undefined) return;
    const node = this.#context.nodes.find(({ session }) => session === ended);
    const lease = node?.agent?.status.lease;
    if (node === undefined || lease == null || lease.endsAtMs < 0) return;
    const { rate } = node.machine.clock;
    const leaseEndsMs = nowMs + (lease.endsAtMs - (node.process?.clock.monotonicMs() ?? 0)) / rate;
    const { sinceMs, timeoutMs, rate: leadersRate } = transaction.silence;
    const earlyMs = Math.round(leaseEndsMs - (sinceMs + timeoutMs / leadersRate));
    if (earlyMs <= 0) return;
    this.#context.violate(2, `the session of ${node.name} may end ${earlyMs} ms before its lease`);
  }

  /**
   * Checks that a node that has claimed takes over or releases the claim, even if the reply to its claim was
   * lost.
   */
  #claimed({ was, is }: Step): void {
    const { claim } = is;
    if (claim === null || claim.id === was.claim?.id) return;
    const node = this.#context.nodes.find(({ session }) => session === claim.owner);
    const process = node?.process;
    if (node === undefined || !this.#context.isInTouch(node)) return;
    this.#context.unlessDisturbed(2 * this.#context.promptMs, 9, () => {
      const supervisors = [...node.machine.supervisors];
      if (
        supervisors.length === 0 ||
        supervisors.some((supervisor) => supervisor.isFrozen || supervisor.wasFrozen)
      )
        return null;
      const isIdle = process?.isRunning === true && !process.wasFrozen && !this.#takenOver.has(claim.id);
      const stands = inSlot(this.#context.picture(), is.slot).claim?.id === claim.id;
      return isIdle && stands ? `${node.name} has claimed, and does nothing` : null;
    });
  }

  #becameReady({ was, is }: Step): void {
    const { claim } = is;
    if (claim === null || claim.readySinceMs === null || was.claim?.readySinceMs === claim.readySinceMs)
      return;
    const owner = this.#context.nodes.find(({ session }) => session === claim.owner);
    if (owner === undefined || owner.machine.succeeded.has(`takeover ${claim.id}`)) return;
    this.#context.violate(9, `${owner.name} is READY, and its takeover hook has not succeeded`);
  }
}

/** Returns the elected node's registration. Null if there is none. */
function candidateOf({ elected, registrations }: Picture): RegistrationSeen | null {
  return registrations.get(elected?.content.node ?? '') ?? null;
}

/**
 * Key under which a machine records that a prepare hook succeeded. A prepare hook has no token, so its key
 * has 0 instead.
 */
export const prepared = 'prepare 0';
