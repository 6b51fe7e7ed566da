/** Simulates one election under given conditions, from one seed, and measures it. */

import { type Conditions, listenMs, meanDelayMs } from './conditions.js';
import { ticks } from './events.js';
import type { Protocol } from './protocol.js';
import { World } from './world.js';

/**
 * Measures of the scenario's election. The election begins with the event that causes it. It ends when every
 * event of the scenario has happened, all live nodes agree, and no message is in transit. If messages are
 * always in transit, it ends when the nodes have agreed for a long time.
 *
 *   agreed        1 if the election ended, otherwise 0; if 0, there is no `time`
 *   time          ms until all agreed
 *   messages      messages sent; a multicast counts as one
 *   deliveries    copies that arrived
 *   bytes         bytes sent
 *   rounds        length of the longest chain of messages, each sent by the receiver of the previous one
 *   misled        nodes that consider a dead node the leader at the end
 *   leaders       largest number of nodes that led at the same time
 *   disagreement  share of all time, including the calm periods before and after, in which not all agreed
 *   upkeep        messages per second in the final calm period, which begins TL after the election
 *   inconsistent  share of the final calm period in which not all agreed
 *   departures    agreements that ended in the final calm period, per second
 *   followers     other nodes that follow the highest live node at the end of the election
 *
 * In the scenario `partition`, `time` is measured from the instant when the network separates. `leaders of
 * the minority` and `leaders of the majority` count the nodes that lead just before the separation ends.
 *
 * The measures also include events that the algorithm itself counts. These events are counted during the
 * final calm period too.
 */
export type Measures = Readonly<Record<string, number>>;

/** Runs one simulation. An election that does not end is not an error. It is reported as not agreed. */
export function simulate<Message>(
  protocol: Protocol<Message>,
  conditions: Conditions,
  seed: number,
): Promise<Measures> {
  const run = new Run(protocol, conditions, seed);
  return run.measure();
}

class Run<Message> {
  readonly #world: World<Message>;
  readonly #conditions: Conditions;
  /** Whether an event of the scenario is still to come. */
  #isToCome = false;

  constructor(protocol: Protocol<Message>, conditions: Conditions, seed: number) {
    this.#conditions = conditions;
    this.#world = new World(protocol, conditions, seed);
  }

  async measure(): Promise<Measures> {
    const { scenario } = this.#conditions;
    if (this.#conditions.mistakesPerS > 0) this.#planMistake();
    this.#startAll();
    await this.#world.rest();
    if (scenario === 'midway') this.#planCrash();
    if (scenario === 'start' || scenario === 'midway') return await this.#measured(0);
    do {
      if (!(await this.#settle())) return { agreed: 0 };
      await this.#calm();
      // Under loss, the agreement may have ended during the calm period.
    } while (this.#world.census.agreed === null);
    const from = this.#world.events.now;
    this.#world.forget();
    this.#world.census.takeMostLeaders();
    this.#happen();
    await this.#world.rest();
    return await this.#measured(from);
  }

  #startAll(): void {
    const { nodes, scenario } = this.#conditions;
    const late = scenario === 'join' ? this.#joiner() : -1;
    const initiators = this.#initiators();
    if (late !== -1) this.#world.expectLate(late);
    for (let id = 0; id < nodes; id += 1) {
      if (id !== late) this.#world.begin(id, initiators === null || initiators.has(id));
    }
  }

  #joiner(): number {
    return this.#conditions.joiner === 'highest' ? this.#conditions.nodes - 1 : 0;
  }

  /** Returns the nodes that begin the election. Null means all nodes. */
  #initiators(): ReadonlySet<number> | null {
    const { initiators, nodes } = this.#conditions;
    const highest = nodes - 1;
    switch (initiators) {
      case 'all':
        return null;
      case 'highest':
        return new Set([highest]);
      case 'after-highest':
        return new Set([this.#world.contextOf(highest, 0).successor()]);
      default: {
        const drawn = Int32Array.from({ length: nodes }, (_, id) => id);
        this.#world.random.shuffle(drawn);
        return new Set(drawn.slice(0, initiators));
      }
    }
  }

  /** Runs until all agree and no message is in transit. Returns false if that does not happen in time. */
  async #settle(): Promise<boolean> {
    const { events } = this.#world;
    const from = events.now;
    while (!this.#isSettled(from)) {
      if (events.nextAt > from + ticks(this.#conditions.limitMs)) return false;
      const rest = this.#world.step();
      if (rest !== null) await rest;
    }
    return true;
  }

  /**
   * Whether the election has ended. If messages are slow and renewals are frequent, a message is always in
   * transit. A long agreement is therefore sufficient.
   */
  #isSettled(from: number): boolean {
    const { events, census, network } = this.#world;
    if (this.#isToCome || census.agreedSince === null) return false;
    const longMs = this.#calmMs() + 10 * meanDelayMs(this.#conditions.delay);
    return network.underWay === 0 || events.now - Math.max(from, census.agreedSince) > ticks(longMs);
  }

  #calmMs(): number {
    return 2 * Math.max(listenMs(this.#conditions), this.#conditions.detectMs);
  }

  /** Waits for a calm period to pass. The period ends at a random instant between two announcements. */
  async #calm(): Promise<void> {
    const { events, random } = this.#world;
    await this.#world.runTo(events.now + ticks(this.#calmMs() + random.next() * this.#conditions.announceMs));
  }

  #happen(): void {
    const { scenario, awayMs } = this.#conditions;
    const leader = this.#world.census.agreed;
    if (scenario === 'join') {
      this.#world.begin(this.#joiner(), true);
      return;
    }
    if (leader === null) return;
    if (scenario === 'alarm') {
      this.#alarm(leader);
      return;
    }
    if (scenario === 'partition') {
      this.#separate(leader);
      return;
    }
    this.#world.end(leader, scenario === 'bye');
    if (scenario === 'crashes') this.#planSecondCrash();
    if (scenario !== 'restart') return;
    this.#planLater(awayMs, () => this.#world.begin(leader, true));
  }

  /** Plans a crash at a random instant within the time that a message may take to go round all nodes. */
  #planCrash(): void {
    const { nodes, delay } = this.#conditions;
    const afterMs = this.#world.random.next() * nodes * meanDelayMs(delay);
    this.#planLater(afterMs, () => this.#world.end(nodes - 1, false));
  }

  #planSecondCrash(): void {
    const { detectMs, nodes } = this.#conditions;
    const { random, census } = this.#world;
    const live = Array.from({ length: nodes }, (_, id) => id).filter((id) => census.isLive(id));
    const highest = live.at(-1);
    if (highest === undefined || live.length < 2) return;
    this.#planLater(2 * random.next() * detectMs, () => this.#world.end(highest, false));
  }

  #separate(leader: number): void {
    const { nodes, apartMs } = this.#conditions;
    const lowest = Array.from({ length: nodes }, (_, id) => id).filter((id) => id !== leader);
    const minority = new Set([leader, ...lowest].slice(0, Math.floor((nodes - 1) / 2)));
    this.#world.separate(minority);
    this.#planLater(apartMs, () => this.#world.reunite());
  }

  #planLater(afterMs: number, happen: () => void): void {
    const { events } = this.#world;
    this.#isToCome = true;
    events.plan(events.now + ticks(afterMs), 'timer', () => {
      this.#isToCome = false;
      happen();
    });
  }

  #alarm(leader: number): void {
    const { nodes } = this.#conditions;
    const follower = (leader + 1 + this.#world.random.below(Math.max(1, nodes - 1))) % nodes;
    this.#mistake(follower, leader);
  }

  #mistake(node: number, suspected: number): void {
    const { events } = this.#world;
    // A node never believes itself to be dead.
    if (node === suspected) return;
    this.#world.suspect(node, suspected, this.#world.incarnationOf(suspected));
    const until = events.now + ticks(this.#conditions.detectMs);
    events.plan(until, 'timer', () => this.#world.trust(node, suspected));
  }

  /**
   * Plans mistakes by the failure detector at random instants. Any node may wrongly believe that any other
   * node is dead.
   */
  #planMistake(): void {
    const { events, random, census } = this.#world;
    const { mistakesPerS, nodes } = this.#conditions;
    const afterMs = (-Math.log(1 - random.next()) / mistakesPerS) * 1000;
    events.plan(events.now + ticks(afterMs), 'timer', () => {
      const [node, other] = [random.below(nodes), random.below(nodes)];
      if (census.isLive(node) && census.isLive(other)) this.#mistake(node, other);
      this.#planMistake();
    });
  }

  async #measured(from: number): Promise<Measures> {
    const { events, census, network } = this.#world;
    const isSettled = await this.#settle();
    const { messages, deliveries, bytes } = network.traffic;
    const rounds = this.#world.depth;
    const since = census.agreedSince ?? events.now;
    const followers = census.followersOfHighest;
    const calm = isSettled ? await this.#observed() : {};
    return {
      agreed: isSettled ? 1 : 0,
      ...(isSettled ? { time: Math.max(0, since - from) / ticks(1) } : {}),
      messages,
      deliveries,
      bytes,
      rounds,
      misled: census.misled,
      leaders: census.takeMostLeaders(),
      disagreement: census.shares(events.now).disagreement,
      followers,
      ...calm,
      ...Object.fromEntries(this.#world.counts),
    };
  }

  /** Waits for the calm period after the election, and measures it. */
  async #observed(): Promise<Measures> {
    const { events, census, network } = this.#world;
    // Leave out the first TL, because no node gives up a leader that it has just heard.
    await this.#world.runTo(events.now + ticks(listenMs(this.#conditions)));
    const from = events.now;
    const { messages } = network.traffic;
    const { breaks } = census;
    const agreedTicks = census.agreedTicks(from);
    await this.#world.runTo(from + ticks(this.#conditions.observeMs ?? this.#calmMs()));
    const calmTicks = events.now - from;
    const calmS = calmTicks / ticks(1000);
    return {
      upkeep: (network.traffic.messages - messages) / calmS,
      inconsistent: 1 - (census.agreedTicks(events.now) - agreedTicks) / calmTicks,
      departures: (census.breaks - breaks) / calmS,
    };
  }
}
