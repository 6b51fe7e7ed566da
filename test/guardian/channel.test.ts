/** The agent's end of its channel to its guardian. The test plays the guardian. */
import { describe, expect, it } from 'vitest';
import type { SessionMemory } from '../../src/agent/session/session-memory.js';
import { GuardianChannel, type GuardianListener } from '../../src/guardian/channel.js';
import type { FromAgent, ToAgent } from '../../src/guardian/messages.js';
import type { FromSupervisor, LeadershipLease } from '../../src/hooks/messages.js';
import type { Supervisor, Supervisors } from '../../src/hooks/supervisors.js';
import { now } from '../support/hand-clock.js';

const hello = { node: 'a1', root: '/cluster', log: 'json', codeAtDeath: null, codeOnSignal: 'done' } as const;
const options = { node: 'a1', root: '/cluster', passesOutput: false };
const elsewhere: Supervisor = { name: 'another', send() {}, kill() {}, leave: () => Promise.resolve() };
const another: Supervisors = { start: () => elsewhere };

interface Bench {
  readonly channel: GuardianChannel;
  /** Messages that the agent has sent, oldest first, without the first one. */
  readonly sent: FromAgent[];
  /** Leases in shared memory, each with its group. */
  readonly written: [LeadershipLease, number][];
  readonly heard: string[];
  readonly supervised: { readonly messages: FromSupervisor[]; readonly gone: string[] };
  readonly guardian: { isThere: boolean; isKilled: boolean; hasMemory: boolean; listens: boolean };
  received(message: ToAgent): void;
  dies(): void;
  start(): Supervisor;
  listen(): void;
}

function bench({ sharesMemory = true } = {}): Bench {
  const sent: FromAgent[] = [];
  const written: [LeadershipLease, number][] = [];
  const heard: string[] = [];
  const supervised = { messages: [] as FromSupervisor[], gone: [] as string[] };
  const guardian = { isThere: true, isKilled: false, hasMemory: true, listens: true };
  const write = ({ leadership, releaseAtMs, endsAtMs }: LeadershipLease, group: number) => {
    if (guardian.hasMemory) written.push([{ leadership, releaseAtMs, endsAtMs }, group]);
    return guardian.hasMemory;
  };
  let [received, dies] = [(_message: ToAgent) => {}, () => {}];
  const channel = new GuardianChannel(
    {
      get isThere() {
        return guardian.isThere;
      },
      send: (message) => sent.push(message),
      sharedLease: sharesMemory ? { write } : null,
      kill: () => {
        guardian.isKilled = true;
      },
      listen: (onMessage, onGone) => {
        [received, dies] = [onMessage, onGone];
        return () => {
          guardian.listens = false;
        };
      },
    },
    hello,
  );
  expect(sent.splice(0)).toEqual([{ type: 'hello', ...hello }]);
  const listener: GuardianListener = {
    signalled: (signal) => heard.push(signal),
    gone: () => heard.push('gone'),
  };
  return {
    channel,
    sent,
    written,
    heard,
    supervised,
    guardian,
    received: (message) => received(message),
    dies: () => dies(),
    start: () =>
      channel.supervisors(another).start(options, {
        message: (message) => supervised.messages.push(message),
        gone: (how) => supervised.gone.push(how),
      }),
    listen: () => channel.listen(listener),
  };
}

function lease(leadership: number, releaseAtMs: number): { type: 'lease' } & LeadershipLease {
  return { type: 'lease', leadership, releaseAtMs, endsAtMs: releaseAtMs + 1_000 };
}

describe('the channel of an agent to its guardian', () => {
  it('passes on what the guardian was asked by a signal, also what came before anybody listened', () => {
    const { listen, received, heard } = bench();
    received({ type: 'signalled', signal: 'SIGHUP' });
    listen();
    listen();
    received({ type: 'signalled', signal: 'SIGTERM' });
    expect(heard).toEqual(['SIGHUP', 'SIGTERM']);
  });

  it('answers the guardian that asks whether the agent is there', () => {
    const { received, sent } = bench();
    received({ type: 'there?' });
    expect(sent).toEqual([{ type: 'here' }]);
  });

  it('reports the state of the node, and the end of a reload', () => {
    const { channel, sent } = bench();
    channel.sendStatus(true, 'leads /cluster in term 1');
    channel.sendReloaded();
    expect(sent).toEqual([
      { type: 'status', joined: true, text: 'leads /cluster in term 1' },
      { type: 'reloaded' },
    ]);
  });

  it('hears nothing more once it was closed', () => {
    const { channel, guardian } = bench();
    channel.close();
    expect(guardian.listens).toBe(false);
  });
});

describe('the session of an agent', () => {
  const where = { servers: [{ host: 'zk1', port: 2181 }], tls: null, auth: null };
  const ticket = { id: 7n, password: Buffer.from('secret') };
  const granted = { timeoutMs: 4_000, longestTimeoutMs: 6_000 };

  it('is sent to the guardian, with all that it needs to end it, and saved where it was saved before', () => {
    const { channel, sent } = bench();
    const saved: unknown[] = [];
    const inner: SessionMemory = {
      earlier: ticket,
      write: (...session) => saved.push(session),
      close: (ended) => saved.push(ended),
    };
    const memory = channel.memory(inner, where);
    expect(memory.earlier).toBe(ticket);
    memory.write(ticket, granted);
    memory.close(true);
    expect(saved).toEqual([[ticket, granted], true]);
    const session = { id: '7', password: ticket.password.toString('base64'), ...granted, ...where };
    expect(sent).toEqual([{ type: 'session', session }, { type: 'session-over' }]);
  });

  it('stays with the guardian if the agent has not ended it', () => {
    const { channel, sent } = bench();
    const memory = channel.memory(null, where);
    expect(memory.earlier).toBeNull();
    memory.write(ticket, granted);
    memory.close(false);
    expect(sent.map(({ type }) => type)).toEqual(['session']);
  });
});

describe('a group whose hooks the guardian runs', () => {
  it('is announced, and has a number of its own each time', () => {
    const { start, sent } = bench();
    const [one, two] = [start(), start()];
    expect(one.name).toBe('the guardian');
    two.send({ type: 'end-leadership', leadership: 1 });
    one.send({ type: 'adopt', pgid: 5_102 });
    expect(sent).toEqual([
      { type: 'begin', group: 0, root: '/cluster' },
      { type: 'begin', group: 1, root: '/cluster' },
      { type: 'end-leadership', leadership: 1, group: 1 },
      { type: 'adopt', pgid: 5_102, group: 0 },
    ]);
  });

  it('hears the messages about itself alone', () => {
    const { start, received, supervised } = bench();
    start();
    received({ type: 'gone', pgid: 5_102, group: 0 });
    received({ type: 'gone', pgid: 5_103, group: 9 });
    expect(supervised.messages).toEqual([{ type: 'gone', pgid: 5_102, group: 0 }]);
  });

  it('writes a later lease of a leadership to shared memory, and sends every other one as well', () => {
    const { start, sent, written, guardian } = bench();
    const supervisor = start();
    const isSent = (message: ReturnType<typeof lease>) => {
      sent.splice(0);
      supervisor.send(message);
      return sent.length === 1;
    };
    const rows: [what: string, message: ReturnType<typeof lease>, isSent: boolean][] = [
      ['the first one', lease(1, 1_000), true],
      ['a later one', lease(1, 1_500), false],
      ['an equal one', lease(1, 1_500), false],
      ['an earlier one', lease(1, 1_400), true],
      ['that of another leadership', lease(2, 2_000), true],
      ['a later one', lease(2, 2_500), false],
    ];
    expect(rows.map(([what, message]) => [what, message, isSent(message)])).toEqual(rows);
    expect(written.map(([{ releaseAtMs }, group]) => [releaseAtMs, group])).toEqual(
      rows.map(([, { releaseAtMs }]) => [releaseAtMs, 0]),
    );
    guardian.hasMemory = false;
    expect(isSent(lease(2, 3_000))).toBe(true);
  });

  it('sends every lease where no memory is shared', () => {
    const { start, sent } = bench({ sharesMemory: false });
    const supervisor = start();
    for (const releaseAtMs of [1_000, 1_500]) supervisor.send(lease(1, releaseAtMs));
    expect(sent.filter(({ type }) => type === 'lease')).toHaveLength(2);
  });

  it('leaves when the guardian says that nothing of it is left', async () => {
    const { start, received, sent, supervised } = bench();
    const left = start().leave();
    expect(sent.at(-1)).toEqual({ type: 'clear', group: 0 });
    expect(await now(left)).toBe('pending');
    received({ type: 'cleared', group: 0 });
    expect(await now(left)).toBeUndefined();
    received({ type: 'gone', pgid: 5_102, group: 0 });
    expect(supervised.messages).toEqual([]);
  });

  it('has left already if it is asked again, or if the guardian is dead', async () => {
    const { start, received, dies, guardian, sent } = bench();
    const [one, two, three] = [start(), start(), start()];
    void one.leave();
    received({ type: 'cleared', group: 0 });
    received({ type: 'cleared', group: 0 });
    sent.splice(0);
    expect(await now(one.leave())).toBeUndefined();
    guardian.isThere = false;
    expect(await now(two.leave())).toBeUndefined();
    dies();
    expect(await now(three.leave())).toBeUndefined();
    expect(sent).toEqual([]);
  });

  it('has left when the guardian dies instead of an answer', async () => {
    const { start, dies, supervised } = bench();
    const left = start().leave();
    dies();
    expect(await now(left)).toBeUndefined();
    expect(supervised.gone).toEqual(['has died']);
  });
});

describe('the death of a guardian', () => {
  it('is reported to each group once, and to the agent', () => {
    const { listen, start, received, dies, heard, supervised } = bench();
    start();
    start();
    received({ type: 'cleared', group: 1 });
    start();
    dies();
    listen();
    expect(supervised.gone).toEqual(['has died', 'has died']);
    expect(heard).toEqual(['gone']);
  });

  it('by the hand of its agent is explained by what the agent saw', () => {
    const { start, dies, guardian, supervised } = bench();
    start().kill('does not answer');
    expect(guardian.isKilled).toBe(true);
    dies();
    expect(supervised.gone).toEqual(['was killed by its agent, because it does not answer']);
  });

  it.each([
    ['it has died', ({ dies }: Bench) => dies()],
    ['its agent has killed it', ({ start }: Bench) => start().kill('does not answer')],
    ['its process is gone', ({ guardian }: Bench) => Object.assign(guardian, { isThere: false })],
  ])('leaves new groups to another supervisor: %s', (_what, end) => {
    const all = bench();
    expect(all.start()).not.toBe(elsewhere);
    end(all);
    expect(all.start()).toBe(elsewhere);
  });
});
