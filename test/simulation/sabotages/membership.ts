/** Sabotages of a node's place in the group: sessions, seats, watches, what is read and in which order. */
import type { Sabotage } from './sabotage.js';

const agent = 'src/agent/agent.ts';
const observe = 'src/agent/observe.ts';
const lookout = 'src/agent/lookout.ts';
const knownReads = 'src/agent/known-reads.ts';
const membership = 'src/agent/membership.ts';

export const membershipSabotages: readonly Sabotage[] = [
  {
    name: 'the decision dies with its maker',
    rule: 'elected is persistent: a decision outlives the elector that made it',
    file: 'src/agent/tree.ts',
    find: "data: Buffer.from(content), mode: 'persistent' };",
    replace: "data: Buffer.from(content), mode: path.endsWith('/elected') ? 'ephemeral' : 'persistent' };",
  },
  {
    name: 'a second machine takes the name over',
    rule: 'Where another machine carries the name, the newcomer ends with an error',
    file: membership,
    find: '  if (content.value?.incarnation === registration.incarnation) {',
    replace: '  if (content.value !== null) {',
  },
  {
    name: 'a second machine waits for the name',
    rule: "The error names the other machine; its end is not waited for as an earlier life's",
    file: membership,
    find: '  if (content.value !== null && host.isOtherAgent(content.value)) throw duplicate(path, content.value);\n',
    replace: '',
  },
  {
    name: "an earlier life's session ended while it may work",
    rule: 'An earlier life that owns the claim is waited for: something of its tenure may live',
    file: 'src/agent/earlier-life.ts',
    find: "    if (workload === 'inside') return false;",
    replace: "    if (workload === 'inside' || workload === 'outside') return false;",
  },
  {
    name: 'a seat taken twice',
    rule: 'Before a seat is taken the node looks for the one its session owns: no node holds two',
    file: membership,
    find: '    heldSeats(store, paths, node, store.sessionId),',
    replace: '    heldSeats(store, paths, node, 0n),',
  },
  {
    name: 'sequences sorted as text',
    rule: 'Sequences wrap, and are compared in serial arithmetic',
    file: 'src/core/sequence.ts',
    find: '    .sort((a, b) => compareSequences(a.sequence, b.sequence) || (a.name < b.name ? -1 : 1));',
    replace: '    .sort((a, b) => (a.name < b.name ? -1 : 1));',
  },
  {
    name: 'sequences sorted as numbers',
    rule: 'Sequences wrap, and are compared in serial arithmetic',
    file: 'src/core/sequence.ts',
    find: '  return (a - b) | 0;',
    replace: '  return a - b;',
  },
  {
    name: 'everybody watches all seats',
    rule: 'A node watches the seat just below its own: one departure wakes one node',
    file: observe,
    find: '    const names = seats ?? (await reads.getChildren(paths.election)).children;',
    replace:
      '    const names = seats ?? (await reads.getChildren(paths.election, { watch: true })).children;',
  },
  {
    name: 'nobody watches the seat below',
    rule: 'A node watches the seat just below its own, and becomes the elector when there is none',
    file: observe,
    find: '  const read = await readable(reads.getChildren(path, { watch: true }));',
    replace: '  const read = await readable(reads.getChildren(path));',
  },
  {
    name: 'the own seat unwatched',
    rule: 'A node watches its own seat, and takes a new one when it is gone',
    file: observe,
    find: '    seat.name === null ? null : reads.exists(paths.seat(seat.name), { watch: true }),',
    replace: '    seat.name === null ? null : reads.exists(paths.seat(seat.name)),',
  },
  {
    name: 'no new seat',
    rule: 'A node whose seat is gone takes a new one',
    file: agent,
    find: '    if (snapshot.seat === null || snapshot.self?.value?.incarnation',
    replace: '    if (snapshot.self?.value?.incarnation',
    also: [
      {
        file: agent,
        find: '    const recheckInMs = await this.#elect(store, snapshot, snapshot.seat.name);',
        replace:
          "    const recheckInMs = await this.#elect(store, snapshot, snapshot.seat?.name ?? 'none-0000000000');",
      },
      {
        file: agent,
        find: '    const auditing = snapshot.seat.second ? auditMs : resyncMs;',
        replace: '    const auditing = snapshot.seat?.second ? auditMs : resyncMs;',
      },
      {
        file: agent,
        find: 'if (this.#lookout.seat.name === null && !(await',
        replace: 'if (this.snapshot === null && this.#lookout.seat.name === null && !(await',
      },
    ],
  },
  {
    name: 'elected unwatched',
    rule: 'Who leads, or is to lead, learns at once that another is elected',
    file: observe,
    find: '{ watch: isConcerned || !slots.rings });',
    replace: '{ watch: isElector || !slots.rings });',
  },
  {
    name: 'the claim unwatched by the candidate',
    rule: 'The candidate waits for current to be absent by a watch, not by a poll',
    file: observe,
    find: 'readable(reads.getData(current, { watch: true }));',
    replace: 'readable(reads.getData(current, { watch: hearsOfMaking }));',
  },
  {
    name: 'the elector does not watch registrations',
    rule: 'The elector is woken by a change of health, score or failure of any node',
    file: observe,
    find: '    const options = { watch: true };',
    replace: '    const options = { watch: name === node };',
  },
  {
    name: 'the elector does not watch who comes and goes',
    rule: 'The elector is woken by a change of membership',
    file: observe,
    find: '    readsAll ? reads.getChildren(paths.nodes, { watch: true }) : null,',
    replace: '    readsAll ? reads.getChildren(paths.nodes) : null,',
  },
  {
    name: 'the elector decides on what it read before',
    rule: 'Every decision is made from a fresh read, never from an event or from memory',
    file: lookout,
    find: '        this.#snapshot = snapshot;\n        this.#options.tokens.look(snapshot);\n        return snapshot;',
    replace:
      '        const earlier = this.#snapshot;\n        this.#snapshot = snapshot;\n        return { ...snapshot, members: earlier?.members ?? snapshot.members };',
  },
  {
    name: 'registrations read before the claim',
    rule: 'Read in this order: config, elected, current, nodes, so that who is seen READY is seen registered',
    file: observe,
    find: '  const placed = await place(',
    replace:
      "  const early = names === null ? null : await readMembers(observer, names.children, seatNames?.children ?? [], self);\n  const late = part === 'standby' ? null : await claimAt(observer, 1, readsAll);\n  const placed = await place(",
    also: [
      {
        file: observe,
        find: '      claim(1),',
        replace: '    null,',
      },
      {
        file: observe,
        find: '    names === null ? null : readMembers(observer, names.children, seatNames?.children ?? [], self),\n',
        replace: '    early,\n',
      },
      {
        file: observe,
        find: '      current,\n      others: beyondFirst,',
        replace: '      current: late,\n      others: beyondFirst,',
      },
    ],
  },
  {
    name: 'nothing read again on reconnect',
    rule: 'On every reconnect all state is read afresh, and watches are set again',
    file: agent,
    find: '      this.#tell();\n      this.#wake();\n    });\n    return store;',
    replace: "      this.#tell();\n      if (state === 'LOST') this.#wake();\n    });\n    return store;",
    also: [
      {
        file: 'src/zookeeper/session.ts',
        find: '    this.#restoreWatches(connection);\n',
        replace: '',
      },
    ],
  },
  {
    name: 'what was known of an ended session kept',
    rule: 'Watches end with their session: the next one sets its own',
    file: lookout,
    find: '    this.#reads = null;\n',
    replace: '    this.#reads?.goOn(store);\n',
    also: [
      { file: lookout, find: '  begin(): void {', replace: '  begin(store: Store): void {' },
      { file: agent, find: 'this.#lookout.begin();', replace: 'this.#lookout.begin(store);' },
      {
        file: knownReads,
        find: '  readonly #store: Store;\n',
        replace: '  #store: Store;\n\n  goOn(store: Store): void {\n    this.#store = store;\n  }\n',
      },
    ],
  },
  {
    name: 'what was known kept on reconnect',
    rule: 'On every reconnect all state is read afresh: out of touch, nobody is told of changes',
    file: knownReads,
    find: '      this.forget();\n    });',
    replace: '    });',
    also: [
      {
        file: 'src/zookeeper/session.ts',
        find: '    this.#restoreWatches(connection);\n',
        replace: '',
      },
    ],
  },
  {
    name: 'known only when it is answered',
    rule: 'What is known is known from when it is asked for: a change told of before the answer is used counts against it',
    file: knownReads,
    find: '    known.set(path, sent);\n',
    replace:
      '    void sent.then(() => new Promise((resolve) => setImmediate(resolve))).then(() => known.set(path, sent), () => {});\n',
  },
  {
    name: 'what is known mixed with what is newer',
    rule: 'What is known was still so when the last of what a round asks for was answered',
    file: knownReads,
    find: '      if (changes !== this.#changes && tried < tries) continue;\n',
    replace: '',
  },
  {
    name: 'nobody rings',
    rule: 'Whoever is elected learns it at once',
    file: 'src/agent/commit.ts',
    find: '  return seatsOf(turn, decision).map((seat) =>',
    replace: '  return seatsOf(turn, decision).slice(99).map((seat) =>',
  },
  {
    name: 'elects who cannot be told yet',
    rule: 'Nobody is elected whose seat, at which it would be told, is not known',
    file: 'src/agent/commit.ts',
    find: '!isNewlyNamed(turn, decision) || seatsOf(turn, decision).length > 0);',
    replace: '!isNewlyNamed(turn, decision) || seatsOf(turn, decision).length >= 0);',
  },
  {
    name: 'the place of an ended session kept',
    rule: 'After an expired session all is forgotten: seat, part and what was read',
    file: lookout,
    find: "    this.#snapshot = null;\n    this.#seat = noSeat;\n    this.#part = 'standby';\n",
    replace: '',
  },
  {
    name: 'goes back in time with its server',
    rule: 'A client never reads from a server that knows less than it has seen',
    file: 'src/zookeeper/session.ts',
    find: '    if (zxid.readBigInt64BE() > this.zxid.readBigInt64BE()) this.zxid = zxid;',
    replace: '    if (zxid.readBigInt64BE() < 0n) this.zxid = zxid;',
  },
  {
    name: 'no resync',
    rule: 'A round happens every so often, so that not even a lost event is for ever',
    file: 'src/agent/sharing.ts',
    find: 'const usualResyncMs = 30_000;',
    replace: 'const usualResyncMs = 1e9;',
  },
  {
    name: 'registers again and again',
    rule: 'With no changes nothing is written but leases',
    file: agent,
    find: "    if (self === null || isDeepStrictEqual(self.value, JSON.parse(data.toString('utf8')))) return null;",
    replace:
      "    if (self === null || isDeepStrictEqual(self, JSON.parse(data.toString('utf8')))) return null;",
  },
  {
    name: 'eviction takes the claim, too',
    rule: 'An eviction leaves the claim alone unless a person says that the node is dead',
    file: 'src/group/evict.ts',
    find: '    ...(claim === null || !dead\n',
    replace: '    ...(claim === null\n',
  },
];
