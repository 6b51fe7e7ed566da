/** Applies the faults of a run, each at its scheduled time, and reverts them. */

import type { Operation } from '../../src/embedded/tree.js';
import { type GroupPaths, pathsOfSlot } from '../../src/model/paths.js';
import type { Conduct } from './conduct.js';
import type { Commit, Ensemble } from './ensemble.js';
import { aimed, bystander, ensembleLeader, type Fault, whoElects, whoLeads, whoLeadsLast } from './faults.js';
import type { Judge } from './judge.js';
import { slotsIn } from './ledger.js';
import type { Network } from './network.js';
import type { Node } from './node.js';
import type { Operator } from './operator.js';
import { countUnder } from './quota.js';
import type { Rules } from './rules.js';
import type { Setup } from './setup.js';
import { isDisturbing, watchOver } from './watch-over.js';
import type { World } from './world.js';
import { isOfKind } from './written.js';

/** All parts of a simulated world. */
export interface Cast {
  readonly setup: Setup;
  readonly world: World;
  readonly paths: GroupPaths;
  readonly ensemble: Ensemble;
  readonly network: Network;
  readonly nodes: Node[];
  readonly operator: Operator;
  readonly judge: Judge;
  readonly rules: Rules;
  readonly conduct: Conduct;
  newNode(name: string, machine: string): Node;
}

/** Interval at which a configuration is deleted repeatedly. */
const deletionsEveryMs = 10;

export class Havoc {
  readonly #cast: Cast;
  /** Functions that revert the current faults. All of them are called when all faults end. */
  readonly #repairs = new Set<() => void>();
  readonly #losses: Extract<Fault, { kind: 'lose answer' }>[] = [];
  readonly #triggers: Extract<Fault, { kind: 'upon' }>[] = [];
  readonly #holdUps: Extract<Fault, { kind: 'hold up' }>[] = [];
  #isRepaired = false;
  /** Number of transactions that the newest backup contains. */
  #backedUp = 0;

  constructor(cast: Cast) {
    this.#cast = cast;
  }

  get isRepaired(): boolean {
    return this.#isRepaired;
  }

  /** Kills the node's agent on behalf of one of its hooks. The node starts again at most 200 ms later. */
  dieOfHook(node: Node): void {
    this.#cast.world.after(1, () => {
      node.process?.kill();
      this.#for(200, () => node.start());
    });
  }

  committed(commit: Commit): void {
    this.#loseAnswer(commit);
    this.#trigger(commit);
  }

  #at(index: number): Node {
    const node = this.#cast.nodes[index];
    if (node === undefined) throw new RangeError(`no node ${index}`);
    return node;
  }

  /** Returns the number of a node, given its number or a placeholder for its role. */
  #indexOf(index: number): number {
    const { nodes, judge, rules } = this.#cast;
    const [seat] = rules.picture().seats;
    const [first] = judge.standing;
    const leader = nodes.findIndex(({ name }) => name === first?.node);
    const elector = nodes.findIndex(({ session }) => session === seat?.owner);
    if (index === whoLeads) return Math.max(0, leader);
    if (index === whoLeadsLast)
      return Math.max(
        0,
        nodes.findIndex(({ name }) => name === judge.standing.at(-1)?.node),
      );
    if (index === whoElects) return Math.max(0, elector);
    if (index !== bystander) return index;
    const other = nodes.findIndex((_, one) => one !== leader && one !== elector);
    return Math.max(0, other === -1 ? elector : other);
  }

  /** Reverts a fault after the given time, or earlier if all faults end. */
  #for(forMs: number, repair: () => void): void {
    const once = () => {
      if (this.#repairs.delete(once)) repair();
    };
    this.#repairs.add(once);
    this.#cast.world.after(forMs, once);
  }

  repair(): void {
    if (!this.#cast.setup.isGentle) this.#cast.rules.disturbed(0);
    this.#isRepaired = true;
    this.#cast.world.note(() => 'all is repaired');
    for (const repair of [...this.#repairs]) repair();
    for (const server of this.#cast.ensemble.servers) {
      server.process.thaw();
      if (!server.process.isAlive) server.start();
    }
    for (const node of this.#cast.nodes) {
      for (const process of [...node.machine.supervisors, ...(node.process === null ? [] : [node.process])]) {
        process.thaw();
        process.spare();
      }
      node.machine.moods.clear();
      // The node restarts immediately. A guardian would wait before it restarts an agent.
      if (node.isUp) node.start();
      else node.restart();
    }
  }

  /** Applies a fault. Does nothing once all faults have ended. */
  befall(planned: Fault): void {
    if (this.#isRepaired) return;
    const fault = aimed(planned, (index) => this.#indexOf(index));
    const victim = 'node' in fault && fault.node !== null ? this.#at(fault.node) : null;
    const watch = this.#cast.rules.isCalm ? watchOver(this.#cast, fault, victim) : () => {};
    if (isDisturbing(fault))
      this.#cast.rules.disturbed(
        ['mute', 'restore', 'quota'].includes(fault.kind) ? Number.POSITIVE_INFINITY : fault.forMs,
        ['delete tree', 'delete configuration', 'delete seat'].includes(fault.kind),
      );
    this.#happen(fault);
    watch();
  }

  #happen(fault: Fault): void {
    switch (fault.kind) {
      case 'kill agent':
      case 'kill supervisor':
      case 'kill both':
      case 'power off':
      case 'freeze agent':
      case 'freeze supervisor':
      case 'freeze both':
      case 'leave':
      case 'kill agent at a call':
      case 'freeze agent at a call':
      case 'kill supervisor at a call':
      case 'unhealthy':
      case 'second machine':
      case 'new credentials':
        this.#befallNode(this.#at(fault.node), fault);
        break;
      case 'cut':
      case 'slow':
        this.#befallLinks(fault);
        break;
      case 'reset':
        this.#reset(this.#at(fault.node));
        break;
      case 'kill server':
      case 'freeze server':
      case 'cut server off':
        this.#befallServer(fault);
        break;
      case 'lose answer':
        this.#losses.push(fault);
        this.#for(fault.forMs, () => this.#losses.splice(this.#losses.indexOf(fault), 1));
        break;
      case 'upon':
        this.#triggers.push(fault);
        break;
      case 'hold up':
        this.#holdUps.push(fault);
        break;
      case 'partition':
        this.#part(fault);
        break;
      case 'strand':
        this.#strand(fault);
        break;
      case 'hook': {
        const { moods } = this.#at(fault.node).machine;
        moods.set(fault.phase, fault.mood);
        this.#for(fault.forMs, () => moods.delete(fault.phase));
        break;
      }
      case 'mute':
        // At least one node must remain that can write its decisions.
        if (!this.#cast.nodes.some(({ isMute }) => isMute))
          this.#at(fault.node).muteSinceMs = this.#cast.world.nowMs;
        break;
      case 'delete decision':
        this.#cast.operator.delete(this.#pathsOf(fault).elected);
        break;
      case 'spoil decision':
        this.#cast.operator.spoil(this.#pathsOf(fault).elected);
        break;
      case 'delete seat':
        this.#cast.operator.deleteSeatOf(this.#at(fault.node).name);
        break;
      case 'delete registration':
        this.#cast.operator.delete(this.#cast.paths.node(this.#at(fault.node).name));
        break;
      case 'delete claim':
        this.#cast.operator.delete(this.#pathsOf(fault).current);
        break;
      case 'delete tree':
        this.#cast.operator.deleteAllUnder(this.#cast.paths.root);
        break;
      case 'delete configuration':
        this.#deleteConfiguration(this.#cast.world.nowMs + fault.forMs);
        break;
      case 'delete chroot':
        this.#loseChroot(fault.forMs);
        break;
      case 'back up':
        this.#backedUp = this.#cast.ensemble.log.length;
        break;
      case 'restore':
        this.#restore(fault);
        break;
      case 'quota':
        this.#limit(fault.spare);
        break;
      case 'expire session':
        this.#expire(this.#at(fault.node));
        break;
      case 'people':
        this.#cast.operator.do(fault.act);
    }
  }

  #pathsOf({ slot = 1 }: { readonly slot?: number }): GroupPaths {
    return pathsOfSlot(this.#cast.paths, slot);
  }

  #befallNode(node: Node, fault: Extract<Fault, { node: number }>): void {
    const { process, machine } = node;
    const { forMs } = fault;
    const killAgent = () => {
      process?.kill();
      this.#cast.conduct.orphaned(node);
      this.#for(forMs, () => node.start());
    };
    const freezeAgent = () => {
      process?.freeze();
      this.#for(forMs, () => process?.thaw());
    };
    const supervisors = [...machine.supervisors];
    const killSupervisors = () => {
      for (const supervisor of supervisors) supervisor.kill();
    };
    const freezeSupervisors = () => {
      for (const supervisor of supervisors) {
        supervisor.freeze();
        this.#for(forMs, () => supervisor.thaw());
      }
    };
    switch (fault.kind) {
      case 'kill agent':
        killAgent();
        break;
      case 'kill supervisor':
        killSupervisors();
        break;
      case 'kill both':
        killSupervisors();
        killAgent();
        break;
      case 'power off':
        killSupervisors();
        killAgent();
        machine.killGroups();
        break;
      case 'freeze agent':
        freezeAgent();
        break;
      case 'freeze supervisor':
        freezeSupervisors();
        break;
      case 'freeze both':
        freezeSupervisors();
        freezeAgent();
        break;
      case 'kill agent at a call':
        process?.doom(fault.calls, killAgent);
        break;
      case 'freeze agent at a call':
        process?.doom(fault.calls, freezeAgent);
        break;
      case 'kill supervisor at a call':
        supervisors[0]?.doom(fault.calls, killSupervisors);
        break;
      case 'new credentials':
        node.credentials = { own: fault.own, accepted: fault.accepted };
        node.leave();
        this.#for(forMs, () => node.start());
        break;
      case 'leave':
        node.leave();
        this.#for(forMs, () => node.start());
        break;
      case 'unhealthy':
        node.sayHealth(false);
        this.#for(forMs, () => node.sayHealth(true));
        break;
      case 'second machine': {
        const other = this.#cast.newNode(node.name, `${node.name} elsewhere`);
        this.#cast.nodes.push(other);
        other.start();
        this.#for(forMs, () => {
          other.process?.kill();
          for (const supervisor of other.machine.supervisors) supervisor.kill();
          other.machine.killGroups();
          this.#cast.nodes.splice(this.#cast.nodes.indexOf(other), 1);
        });
      }
    }
  }

  #befallLinks({ kind, node, server, direction, forMs }: Extract<Fault, { kind: 'cut' | 'slow' }>): void {
    for (const { index } of this.#cast.ensemble.servers) {
      if (server !== null && index !== server) continue;
      const { there, back } = this.#cast.network.way(this.#at(node).machine.name, index);
      const links = [...(direction === 'back' ? [] : [there]), ...(direction === 'there' ? [] : [back])];
      for (const link of links) {
        if (kind === 'cut') link.cut();
        else link.slow(this.#cast.setup.sessionTimeoutMs / 8);
        this.#for(forMs, () => link.repair());
      }
    }
  }

  #reset(node: Node): void {
    this.#cast.rules.shaken();
    for (const { index } of this.#cast.ensemble.servers) {
      for (const breakIt of [...this.#cast.network.way(node.machine.name, index).open]) breakIt();
    }
  }

  #befallServer({
    kind,
    server: index,
    forMs,
  }: Extract<Fault, { server: number; kind: `${string}server${string}` }>) {
    const { servers } = this.#cast.ensemble;
    const server = index === ensembleLeader ? servers.find(({ isLeading }) => isLeading) : servers[index];
    if (server === undefined) return;
    if (kind === 'kill server') {
      server.kill();
      // The killed leader's connections are closed, so the other servers do not wait until syncLimit has
      // passed.
      if (index === ensembleLeader) for (const other of servers) other.hangUpOnLeader();
      this.#for(forMs, () => {
        if (!server.process.isAlive) server.start();
      });
    } else if (kind === 'freeze server') {
      const { process } = server;
      process.freeze();
      this.#for(forMs, () => process.thaw());
    } else {
      for (const other of this.#cast.ensemble.servers) {
        if (other === server) continue;
        for (const link of [
          this.#cast.ensemble.linkBetween(server, other),
          this.#cast.ensemble.linkBetween(other, server),
        ]) {
          link.cut();
          this.#for(forMs, () => link.repair());
        }
      }
    }
  }

  #deleteConfiguration(untilMs: number): void {
    const { operator, paths, world } = this.#cast;
    if (this.#isRepaired || world.nowMs >= untilMs) return;
    operator.delete(paths.config);
    world.after(deletionsEveryMs, () => this.#deleteConfiguration(untilMs));
  }

  #trigger({ transaction, ok }: Commit): void {
    if (transaction.kind !== 'write' || !ok) return;
    const { nodes, paths, world } = this.#cast;
    const trigger = this.#triggers.find(({ write, node }) => {
      const isMeant = node === null || nodes[node]?.session === transaction.session;
      return isMeant && isOfKind(transaction.operations, write, paths);
    });
    if (trigger === undefined) return;
    this.#triggers.splice(this.#triggers.indexOf(trigger), 1);
    world.after(trigger.delayMs, () => this.befall(trigger.befalls));
  }

  /**
   * Applies faults of a write. Called before the write is sent. A delayed write delays everything that its
   * sender sends after it.
   */
  writes(machine: string, operations: readonly Operation[]): void {
    const { nodes, paths, world, network, ensemble } = this.#cast;
    const held = this.#holdUps.find(({ write, node }) => {
      const isMeant = node === null || nodes[node]?.machine.name === machine;
      return isMeant && isOfKind(operations, write, paths);
    });
    if (held === undefined || this.#isRepaired) return;
    this.#holdUps.splice(this.#holdUps.indexOf(held), 1);
    world.note(() => `what ${machine} sends is held up: ${held.write}`);
    for (const { index } of ensemble.servers) {
      const { there } = network.way(machine, index);
      there.cut();
      this.#for(held.forMs, () => there.repair());
    }
    const { meanwhile } = held;
    if (meanwhile !== null) world.after(0, () => this.befall(meanwhile));
  }

  /** Breaks the sender's connections before the server sends the reply. */
  #loseAnswer({ transaction, ok }: Commit): void {
    if (transaction.kind !== 'write' || !ok) return;
    const node = this.#cast.nodes.find(({ session }) => session === transaction.session);
    if (node === undefined) return;
    const loss = this.#losses.find(({ to, node: index }) => {
      const isMeant = index === null || this.#cast.nodes[index] === node;
      return isMeant && isOfKind(transaction.operations, to, this.#cast.paths);
    });
    if (loss === undefined) return;
    this.#losses.splice(this.#losses.indexOf(loss), 1);
    this.#cast.world.note(() => `the answer to ${node.name} gets lost: ${loss.to}`);
    this.#reset(node);
  }

  #part(fault: Extract<Fault, { kind: 'partition' }>): void {
    const { node: index, stallMs, pauseMs, forMs } = fault;
    const node = index === null ? this.#cast.nodes.find(({ saysItLeads }) => saysItLeads) : this.#at(index);
    if (node === undefined) {
      this.#cast.world.after(100, () => this.#isRepaired || this.#part(fault));
      return;
    }
    const ways = this.#cast.ensemble.servers.map((server) => ({
      server,
      way: this.#cast.network.way(node.machine.name, server.index),
    }));
    const links = ways.flatMap(({ way }) => [way.there, way.back]);
    if (stallMs > 0) for (const link of links) link.cut();
    this.#cast.world.after(stallMs, () => {
      for (const link of links) link.repair();
      this.#cast.world.after(pauseMs, () => {
        const own = ways.find(({ way }) => way.open.size > 0)?.server;
        if (this.#isRepaired || own === undefined) return;
        const isLeader = own.isLeading;
        this.#befallServer({ kind: 'cut server off', server: own.index, forMs });
        for (const { server, way } of ways) {
          if (server === own) continue;
          // The other servers elect another leader immediately. The isolated server does not know about that
          // yet.
          if (isLeader) server.hangUpOnLeader();
          way.refuses = stallMs === 0;
          for (const link of [way.there, way.back]) {
            link.cut();
            this.#for(forMs, () => {
              way.refuses = false;
              link.repair();
            });
          }
        }
      });
    });
  }

  #strand({ node: index, pauseMs, forMs }: Extract<Fault, { kind: 'strand' }>): void {
    const { ensemble, network, world } = this.#cast;
    const deposed = ensemble.servers.find(({ isLeading }) => isLeading);
    if (deposed === undefined) return;
    const node = this.#at(index);
    const others = ensemble.servers.filter((server) => server !== deposed);
    this.#befallServer({ kind: 'cut server off', server: deposed.index, forMs });
    for (const server of others) server.hangUpOnLeader();
    world.after(pauseMs, () => {
      if (this.#isRepaired) return;
      for (const { index: other } of others) {
        const way = network.way(node.machine.name, other);
        way.refuses = true;
        for (const link of [way.there, way.back]) {
          link.cut();
          this.#for(forMs, () => {
            way.refuses = false;
            link.repair();
          });
        }
      }
      this.#reset(node);
    });
  }

  #loseChroot(forMs: number): void {
    const { operator, setup } = this.#cast;
    let isOver = false;
    operator.deleteAtOnce(setup.chroot, () => isOver);
    this.#for(forMs, () => {
      isOver = true;
      operator.create(setup.chroot);
    });
  }

  /** Stops all servers, and starts them with older data, or with none. */
  #restore({ from, forMs }: Extract<Fault, { kind: 'restore' }>): void {
    const { ensemble, judge, rules, conduct, operator } = this.#cast;
    this.#noteTokensSeen();
    for (const server of ensemble.servers) server.kill();
    this.#for(forMs, () => {
      rules.restored((take) => ensemble.restore(from === 'backup' ? this.#backedUp : 0, take));
      judge.restored(rules.picture());
      conduct.restored();
      operator.restored();
      for (const server of ensemble.servers) server.start();
    });
  }

  /** Records that the elector has seen the tokens of all claims, unless it or a claim is quite new. */
  #noteTokensSeen(): void {
    const { rules, judge, nodes, world } = this.#cast;
    const elector = nodes.find(({ session }) => session === rules.picture().seats[0]?.owner);
    const seesForMs = rules.electorForMs() - 2 * rules.promptMs;
    if (elector === undefined || seesForMs < 0 || !rules.isInTouch(elector)) return;
    for (const { claim } of slotsIn(rules.picture()))
      if (claim !== null && world.nowMs - claim.sinceMs > 2 * rules.promptMs) judge.sees(elector, claim.id);
  }

  #limit(spare: number): void {
    const { ensemble, paths, nodes, rules, world } = this.#cast;
    const session = nodes.find((node) => node.session !== 0n)?.session ?? 0n;
    const countOf = (path: string) => countUnder(path, ensemble.truth, session) ?? 0;
    const mostZnodes = countOf(paths.root) - countOf(paths.history) + spare;
    ensemble.quota = { path: paths.root, mostZnodes };
    rules.isUnderQuota = true;
    world.note(() => `the group may have ${mostZnodes} znodes, and has ${countOf(paths.root)}`);
  }

  /**
   * Ends a session early, as an administrator can. Spares the sessions of leaders, because a lease cannot
   * account for an early end.
   */
  #expire(node: Node): void {
    const session = node.session;
    const isLeaders = this.#cast.judge.standing.some(({ owner }) => owner === session);
    if (session === 0n || isLeaders || node.agent?.status.stage != null) return;
    this.#cast.ensemble.expire(session);
  }
}
