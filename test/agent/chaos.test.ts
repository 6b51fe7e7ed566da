/**
 * Faults at random, for a while: cut and mute connections, a server that freezes and restarts, takeovers that fail and
 * hang, people who change their minds. It runs for CHAOS_SECONDS, and not without them: its timing is never
 * twice the same, so it is for finding faults, not for judging a change. CHAOS_SEED repeats the choices of a run.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { byHand, Group, type Member } from '../support/agent-group.js';
import { startZooKeeper } from '../support/ensemble.js';
import { startProxy, type TcpProxy } from '../support/proxy.js';
import { overlaps, RecordingDuty, type Task } from '../support/recording-duty.js';
import { until } from '../support/until.js';

const seed = Number(process.env.CHAOS_SEED ?? randomInt(2 ** 31));
const wanted = process.env.CHAOS_SECONDS;
const seconds = Number(wanted ?? 0);
const nodes = ['a', 'b', 'c', 'd'];
const sessionTimeoutMs = 2000;

/** Mulberry32: the same numbers for the same seed. */
function draws(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Chaos {
  readonly duties: Readonly<Record<string, RecordingDuty>>;
  readonly #group: Group;
  readonly #proxies: ReadonlyMap<string, TcpProxy>;
  readonly #draw: () => number;
  readonly #members = new Map<string, Member>();
  #faults = true;

  constructor(group: Group, proxies: ReadonlyMap<string, TcpProxy>, draw: () => number) {
    this.#group = group;
    this.#proxies = proxies;
    this.#draw = draw;
    this.duties = Object.fromEntries(nodes.map((node) => [node, this.#duty()]));
    for (const node of nodes) this.#start(node);
  }

  upTo(most: number): number {
    return Math.floor(this.#draw() * most);
  }

  one<T>(things: readonly [T, ...T[]]): T {
    return things[this.upTo(things.length)] ?? things[0];
  }

  async step(): Promise<void> {
    // The leader has more to lose than the others, so it gets more of it.
    const leader = [...this.#members].find(([, { status }]) => status.leads)?.[0];
    const some = this.one(['a', 'b', 'c', 'd']);
    const node = this.upTo(2) === 0 ? (leader ?? some) : some;
    const proxy = this.#proxies.get(node);
    const roll = this.upTo(10);
    if (roll < 2) proxy?.resetAll();
    else if (roll < 4) await this.#mute(proxy);
    else if (roll < 5) await this.#restart(node);
    else if (roll < 7) await this.#group.switchover(node).catch(() => {});
    else if (roll < 9) this.#members.get(node)?.agent.setHealth(this.upTo(3) > 0, 'as it happens');
    else await this.#pause();
  }

  /** No more faults; everything is well. */
  async calm(): Promise<void> {
    this.#faults = false;
    await Promise.all([...this.#proxies.values()].map((proxy) => proxy.heal()));
    for (const member of this.#members.values()) member.agent.setHealth(true, null);
    await until(() => this.#group.configure({ paused: null }).then(() => true));
  }

  async leader(): Promise<Member> {
    return await until(
      async () => {
        const current = await this.#group.current().catch(() => null);
        const leaders = [...this.#members.values()].filter(({ status }) => status.leads);
        const [leader] = leaders;
        return leaders.length === 1 && current?.status === 'READY' && current.node === leader?.node
          ? leader
          : null;
      },
      { timeoutMs: 40_000, describe: `a leader (seed ${seed})` },
    );
  }

  #start(node: string): void {
    const connect = this.#proxies.get(node)?.address ?? '';
    const duty = this.duties[node];
    if (duty === undefined) throw new Error(`no ${node}`);
    this.#members.set(node, this.#group.start(node, { connect, sessionTimeoutMs, duty }));
  }

  async #restart(node: string): Promise<void> {
    const member = this.#members.get(node);
    if (this.upTo(2) === 0) await member?.stop();
    else await member?.abandon();
    this.#start(node);
  }

  async #mute(proxy: TcpProxy | undefined): Promise<void> {
    proxy?.blackHole(this.one(['both', 'toClient', 'toServer']));
    await sleep(this.upTo(2 * sessionTimeoutMs));
    await proxy?.heal();
  }

  async #pause(): Promise<void> {
    await this.#group.configure({ paused: byHand('let me see') }).catch(() => {});
    await sleep(this.upTo(500));
    await until(() => this.#group.configure({ paused: null }).then(() => true));
  }

  #duty(): RecordingDuty {
    const slow: Task = async () => {
      await sleep(this.#faults ? this.upTo(80) : 0);
    };
    const takeover: Task = async (context, signal) => {
      const roll = this.#faults ? this.upTo(10) : 9;
      if (roll === 0) throw new Error('no disk');
      if (roll === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await slow(context, signal);
    };
    return new RecordingDuty({ takeover, release: slow });
  }
}

it.skipIf(wanted === undefined)(
  'whatever happens, no two lead together, tokens grow, and afterwards one leads',
  async () => {
    await using server = await startZooKeeper();
    await using group = await Group.found(server.connectString, {
      exclusion: { base: '500ms', max: '1s' },
      timeouts: { claim: '2s', prepare: '1s', takeover: '600ms', release: '1s', grace: '100ms' },
      failbackHold: '500ms',
    });
    const draw = draws(seed);
    const proxies = new Map<string, TcpProxy>();
    for (const node of nodes) proxies.set(node, await startProxy({ target: server.connectString }));
    const chaos = new Chaos(group, proxies, draw);
    await chaos.leader();
    const endAtMs = performance.now() + seconds * 1000;
    for (let step = 0; performance.now() < endAtMs; step++) {
      await chaos.step();
      if (step % 10 === 9) await freezeOrRestart(server, draw);
      await sleep(chaos.upTo(300));
    }
    await server.resume();
    await chaos.calm();
    const leader = await chaos.leader();
    expect({ seed, overlaps: overlaps(chaos.duties) }).toEqual({ seed, overlaps: [] });
    const takeovers = Object.values(chaos.duties).flatMap((duty) => duty.of('takeover'));
    const inTime = takeovers.toSorted((one, other) => one.startedAtMs - other.startedAtMs);
    const tokens = inTime.map(({ context }) => context.fencingToken ?? 0n);
    expect({ seed, tokens }).toEqual({
      seed,
      tokens: [...new Set(tokens)].sort((one, other) => (one < other ? -1 : 1)),
    });
    expect(inTime.length).toBeGreaterThan(3);
    await leader.stop();
    await Promise.all([...proxies.values()].map((proxy) => proxy.stop()));
  },
  (seconds + 120) * 1000,
);

async function freezeOrRestart(
  server: Awaited<ReturnType<typeof startZooKeeper>>,
  draw: () => number,
): Promise<void> {
  if (draw() < 0.5) {
    await server.kill9();
    await server.restart();
  } else {
    await server.pause();
    await sleep(draw() * 1.2 * sessionTimeoutMs);
    await server.resume();
  }
}
