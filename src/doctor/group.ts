/** Checks the group in ZooKeeper: its leaders, access rights, clocks, versions and probes. */
import { join } from 'node:path';
import { type Transition, transitionText } from '../group/transition.js';
import { aclText, permissions } from '../model/acl.js';
import { firstOf } from '../model/outside.js';
import { packageDirectory } from '../version.js';
import { type Facts, type GroupFacts, isProblem, type MemberFacts } from './facts.js';
import { type Finding, finding, ok, orOk } from './finding.js';

/**
 * Clocks may differ by this number of milliseconds before the difference is reported. Even a larger
 * difference matters only when logs are compared, because no decision depends on the clock of one machine.
 */
const clockToleranceMs = 1_000;

export function checkGroup({ group, node }: Facts): Finding[] {
  if (isProblem(group))
    return [
      finding(
        'group',
        'error',
        group.problem,
        group.todo ?? 'fix the findings about servers and session first',
      ),
    ];
  return [
    ...checkMalformed(group),
    ...group.late.map(checkTransition),
    ...checkAcls(group),
    ...checkClocks(group),
    ...checkVersions(group, node.version),
    ...checkProbes(group),
  ];
}

/**
 * Checks that every slot has a leader. Without a leader, the service is down, whatever the reason. A pause or
 * a drained site may be deliberate, but it may also have been forgotten.
 */
export function checkLeadership({ group }: Facts): Finding[] {
  if (isProblem(group)) return [];
  const { root, slots, members } = group;
  const nameOf = (n: number) => (slots.length === 1 ? root : `slot ${n + 1} of ${root}`);
  return slots.map(({ leader, reason, isChanging }, n) => {
    if (leader !== null) return ok('group', `${leader} leads ${nameOf(n)} (${countText(members.length)})`);
    const what = `${nameOf(n)} has no leader: `;
    if (members.length === 0)
      return finding('group', 'warning', `${what}no node is registered`, 'start an agent of the group');
    if (isChanging)
      return finding('group', 'warning', `${what}${reason}`, 'wait, and run petrel list to see the outcome');
    return finding('group', 'error', `${what}${reason}`, whyNot);
  });
}

const whyNot = 'run petrel explain: it shows for each node what keeps it from leading';

function countText(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`;
}

function checkMalformed({ problems }: GroupFacts): Finding[] {
  return firstOf(problems).map((problem) =>
    finding(
      'group',
      'warning',
      problem,
      'see petrel list for details; to repair a configuration, run petrel config edit',
    ),
  );
}

function checkTransition(late: Transition): Finding {
  const what = `the transition of term ${late.term} is overdue: ${transitionText(late)}`;
  const who = late.node ?? 'the owner of leader/current';
  const todo =
    late.phase === 'releasing'
      ? `stop the service on ${who}. If onFence is set, the elector’s log shows its result. If you are sure that ${who} is dead, run petrel node evict ${late.node ?? 'NODE'} --dead`
      : `check the log of ${who}, and the log of the elector, which should replace ${who}`;
  return finding('group', 'error', what, todo);
}

function checkAcls({ access, hasAclSettings, znodes }: GroupFacts): Finding[] {
  const check = 'acl';
  if (access === null) {
    const isOpen = znodes.some(({ acl }) => acl?.some(isOpenToChange));
    const [what, todo] = isOpen
      ? [
          'the group has no ACLs: any client of ZooKeeper can change the group and end its leadership',
          `set ACLs as described in ${join(packageDirectory, 'docs/guides/security.md')}`,
        ]
      : [
          'the group has ACLs, but doctor runs without credentials',
          'set authFile to the same value as on the agents',
        ];
    return [finding(check, 'warning', what, todo)];
  }
  const wrong = znodes.filter(({ isRight }) => !isRight);
  const open = wrong.filter(({ acl }) => access.world === 'none' && acl?.some(isOpenToChange));
  if (access.world === 'all') {
    return [
      finding(
        check,
        'warning',
        'acl.world is all: any client of ZooKeeper can change the group',
        'remove acl.world when all agents have credentials',
      ),
    ];
  }
  if (wrong.length === 0) return [ok(check, `all ${znodes.length} znodes have the required ACL`)];
  if (!hasAclSettings && open.length === 0) {
    const what =
      'the group is closed to other clients; doctor does not know which identities it should be open to';
    return [finding(check, 'note', what, 'to check the ACLs, run doctor with the agents’ acl.* settings')];
  }
  const [first] = open.length > 0 ? open : wrong;
  const example =
    first === undefined
      ? ''
      : `, for example ${first.path} (${first.acl === null ? 'unreadable' : aclText(first.acl)})`;
  const what =
    open.length > 0
      ? `any client of ZooKeeper can change ${open.length} of ${znodes.length} znodes${example}`
      : `${wrong.length} of ${znodes.length} znodes do not have the required ACL${example}`;
  return [
    finding(
      check,
      'error',
      what,
      'make sure that all agents run with the same acl.* settings, then run petrel acl apply; petrel acl show lists the znodes',
    ),
  ];
}

function isOpenToChange({
  permissions: allowed,
  identity: { scheme },
}: {
  readonly permissions: number;
  readonly identity: { readonly scheme: string };
}): boolean {
  return scheme === 'world' && (allowed & ~permissions.read) !== 0;
}

function checkClocks({ clock, members }: GroupFacts): Finding[] {
  const own =
    clock === null
      ? [
          finding(
            'clock',
            'note',
            'cannot compare clocks: reading the ensemble’s clock requires write permission',
            'to compare clocks, run doctor with the credentials of an agent or an operator',
          ),
        ]
      : checkOwnClock(clock);
  const ahead = members.flatMap(({ node, startedAtMs, registeredAtMs }) => {
    const byMs = startedAtMs - registeredAtMs;
    if (byMs <= clockToleranceMs) return [];
    const what = `the clock of ${node} is at least ${seconds(byMs)} ahead of the ensemble’s clock: by its own clock, ${node} started after it registered`;
    return [finding('clock', 'warning', what, syncClocks)];
  });
  return [...own, ...ahead];
}

function checkOwnClock({
  aheadMs,
  withinMs,
}: {
  readonly aheadMs: number;
  readonly withinMs: number;
}): Finding[] {
  const surelyMs = Math.abs(aheadMs) - withinMs;
  if (surelyMs <= clockToleranceMs) {
    return [
      ok(
        'clock',
        `the clock of this machine and the ensemble’s clock agree to within ${seconds(Math.abs(aheadMs) + withinMs)}`,
      ),
    ];
  }
  const way = aheadMs > 0 ? 'ahead of' : 'behind';
  const what = `the clock of this machine is at least ${seconds(surelyMs)} ${way} the ensemble’s clock: times in the logs of different machines cannot be compared`;
  return [finding('clock', 'warning', what, syncClocks)];
}

const syncClocks = 'synchronize the clocks of all machines with NTP (chrony, systemd-timesyncd)';

/** Maximum number of similar findings to list. */
const mostReported = 20;

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function checkVersions({ members }: GroupFacts, own: string): Finding[] {
  const versions = new Map<string, string[]>();
  for (const { node, version } of members) versions.set(version, [...(versions.get(version) ?? []), node]);
  const list = [...versions]
    .map(([version, nodes]) => `${version} on ${firstOf(nodes).join(', ')}`)
    .join('; ');
  if (versions.size > 1) {
    return [
      finding(
        'versions',
        'warning',
        `agents run different versions: ${list}`,
        'complete the upgrade; different versions are supported only during an upgrade',
      ),
    ];
  }
  const [only] = versions.keys();
  if (only === undefined) return [];
  if (only !== own) {
    const what = `all agents run version ${only}, but this command is version ${own}`;
    return [
      finding('versions', 'note', what, `use the petrel command of version ${only}, or complete the upgrade`),
    ];
  }
  return [ok('versions', `all agents run version ${only}`)];
}

function checkProbes({ members }: GroupFacts): Finding[] {
  const probing = members.filter(({ reaches }) => reaches !== null);
  const silent = probing.flatMap((from) => {
    return members
      .filter(({ node, probe }) => probe !== null && node !== from.node && !from.reaches?.includes(node))
      .map((to) => unanswered(from, to));
  });
  const findings = [...members.flatMap(unreached), ...silent];
  if (findings.length === 0 && probing.length === 0) return [];
  return orOk(
    findings.slice(0, mostReported),
    'peers',
    `all ${probing.length} nodes that send probes reach all nodes that answer probes`,
  );
}

/**
 * Returns a finding if this machine cannot connect to the node's probe port over TCP. A node that answers
 * probes only over UDP is not checked.
 */
function unreached({ node, probe, unreachable }: MemberFacts): Finding[] {
  if (probe === null || unreachable === null) return [];
  const what = `${node} is unreachable from this machine over TCP at ${probe.host}:${probe.port}: ${unreachable}`;
  return [
    finding(
      'peers',
      'warning',
      what,
      'allow this traffic in firewalls, and set probe.address to an address that other nodes can reach',
    ),
  ];
}

function unanswered({ node }: MemberFacts, { node: peer, probe }: MemberFacts): Finding {
  const where = probe === null ? '' : ` at ${probe.host}:${probe.port}`;
  const todo = `allow ${probe?.protocol === 'tcp' ? 'TCP' : 'UDP'} to ${peer} in firewalls, set its probe.address to an address that other nodes can reach, and set the same probe.secret on all nodes`;
  return finding('peers', 'warning', `${peer} does not answer the probes of ${node}${where}`, todo);
}
