/** What a trouble that comes alone, in a calm world, must not bring about. */
import type { Fault } from './faults.js';
import type { Cast } from './havoc.js';
import type { Node } from './node.js';

/** A lease is young where its tenure is: of an idle node nothing but a sign of life now and again is known. */
const youngTenure = 1 / 2;

/** Whether something gets lost or delayed by it, so that what else has to happen soon may not. */
export function isDisturbing(fault: Fault): boolean {
  switch (fault.kind) {
    case 'hook':
    case 'unhealthy':
    case 'leave':
    case 'reset':
    case 'upon':
      return false;
    case 'people':
      return ['evict', 'evict dead', 'misconfigure'].includes(fault.act.do);
    case 'delete claim':
    case 'delete decision':
    case 'spoil decision':
      return false;
    default:
      return true;
  }
}

/** Call it before the fault happens, and what it returns just after. `victim`: the node that it befalls, if it is one's. */
export function watchOver(cast: Cast, fault: Fault, victim: Node | null): () => void {
  const { rules, setup, operator } = cast;
  const { claim, elected, registrations } = rules.picture();
  const { sessionTimeoutMs, tickMs, servers } = setup;
  const { mayDelete } = operator;
  const lives = new Map(cast.nodes.map((node) => [node.name, node.process]));
  const stays = (name: string) =>
    cast.nodes.some(
      (node) => node.name === name && node.process === lives.get(name) && node.isUp && node.leaves === 0,
    );
  const leadershipMoved = () => {
    const now = rules.picture();
    const isSame = now.elected?.version === elected?.version && operator.mayDelete === mayDelete;
    if (!isSame || claim?.readySinceMs == null || now.claim?.id === claim.id) return null;
    // It was on its way out already.
    const { node } = claim.content;
    if (elected?.content.node !== node || !stays(node)) return null;
    return `${node} has lost its claim over nothing but: ${fault.kind}`;
  };
  const sessionLost = () => {
    const now = rules.picture().registrations;
    for (const [node, { owner }] of registrations) {
      if (stays(node) && now.get(node)?.owner !== owner)
        return `${node} has lost its session over nothing but: ${fault.kind}`;
    }
    return null;
  };
  if (fault.kind === 'reset') return () => rules.unlessDisturbed(sessionTimeoutMs / 2, 9, leadershipMoved);
  if (fault.kind === 'second machine') {
    const process = victim?.process;
    if (victim === null || process?.isRunning !== true || !registrations.has(victim.name)) return () => {};
    return () => {
      const newcomer = cast.nodes.at(-1);
      rules.unlessDisturbed(1_500, 9, () =>
        newcomer?.isUp === true && process.isRunning && cast.nodes.includes(newcomer)
          ? `${newcomer.machine.name} goes on under the name of another machine`
          : null,
      );
    };
  }
  const isServer = fault.kind === 'freeze server' || fault.kind === 'kill server';
  if (!isServer || servers < 3 || tickMs > sessionTimeoutMs / 3) return () => {};
  if (cast.ensemble.servers[fault.server]?.isLeading !== false) return () => {};
  const isYoung = claim !== null && cast.world.nowMs - claim.sinceMs < youngTenure * sessionTimeoutMs;
  const wrong = () => (isYoung ? null : leadershipMoved()) ?? sessionLost();
  return () => rules.unlessDisturbed(1.6 * sessionTimeoutMs, 9, wrong);
}
