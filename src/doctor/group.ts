/** The group in the tree: who may change it, who is in it, and whether they agree. */

import { type Transition, transitionText } from '../group/transition.js';
import { aclText, permissions } from '../model/acl.js';
import { firstOf } from '../model/outside.js';
import { type Facts, type GroupFacts, isProblem, type MemberFacts } from './facts.js';
import { type Finding, finding, ok, orOk } from './finding.js';

/** People read times off logs; nothing else is decided by a clock of one's own. */
const clockToleranceMs = 1_000;

export function checkGroup({ group, node }: Facts): Finding[] {
  if (isProblem(group))
    return [
      finding(
        'group',
        'error',
        group.problem,
        group.todo ?? 'mend what is found of the servers and the session',
      ),
    ];
  return [
    ...checkLeader(group),
    ...group.late.map(checkTransition),
    ...checkAcls(group),
    ...checkClocks(group),
    ...checkVersions(group, node.version),
    ...checkProbes(group),
  ];
}

function checkLeader({ leader, problems, members, root }: GroupFacts): Finding[] {
  const broken = firstOf(problems).map((problem) =>
    finding(
      'group',
      'warning',
      problem,
      'petrel list shows it in its place; petrel config edit mends a configuration',
    ),
  );
  const count = members.length === 1 ? '1 node' : `${members.length} nodes`;
  if (leader !== null) return [ok('group', `${leader} leads ${root}, ${count}`), ...broken];
  return [finding('group', 'warning', `nobody leads ${root}`, 'petrel explain says why'), ...broken];
}

function checkTransition(late: Transition): Finding {
  const what = `term ${late.term} should be over: ${transitionText(late)}`;
  const who = late.node ?? 'the owner of leader/current';
  const todo =
    late.phase === 'releasing'
      ? `stop the service on ${who}; the log of the elector says whether onFence ran, and why it failed. When ${who} is dead for certain: petrel node evict ${late.node ?? 'NODE'} --dead`
      : `look at the logs of ${who} and of the elector, which is to replace it`;
  return finding('group', 'error', what, todo);
}

function checkAcls({ access, znodes }: GroupFacts): Finding[] {
  const check = 'acl';
  if (access === null) {
    const isOpen = znodes.some(({ acl }) => acl?.some(isOpenToChange));
    const [what, todo] = isOpen
      ? [
          'whoever reaches ZooKeeper may change everything of the group, and end its leader',
          'docs/guides/security.md says how to give it ACLs',
        ]
      : ['the group has ACLs, but no credentials are given here', 'give authFile as its agents have it'];
    return [finding(check, 'warning', what, todo)];
  }
  const wrong = znodes.filter(({ isRight }) => !isRight);
  const open = wrong.filter(({ acl }) => access.world === 'none' && acl?.some(isOpenToChange));
  if (access.world === 'all') {
    return [
      finding(
        check,
        'warning',
        'acl.world is all: everybody may change the group',
        'once all agents have credentials, leave it out',
      ),
    ];
  }
  if (wrong.length === 0) return [ok(check, `all ${znodes.length} znodes have the ACL that they should`)];
  const [first] = open.length > 0 ? open : wrong;
  const example =
    first === undefined
      ? ''
      : `, as ${first.path} (${first.acl === null ? 'malformed' : aclText(first.acl)})`;
  const what =
    open.length > 0
      ? `${open.length} of ${znodes.length} znodes may be changed by everybody${example}`
      : `${wrong.length} of ${znodes.length} znodes have another ACL than they should${example}`;
  return [
    finding(
      check,
      'error',
      what,
      'petrel acl apply, when all agents run with the same acl.*; petrel acl show lists them',
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
            'the ensemble’s clock could not be read: that takes a write',
            'look with the credentials of an agent or an operator, if clocks are in doubt',
          ),
        ]
      : checkOwnClock(clock);
  const ahead = members.flatMap(({ node, startedAtMs, registeredAtMs }) => {
    const byMs = startedAtMs - registeredAtMs;
    if (byMs <= clockToleranceMs) return [];
    const what = `the clock of ${node} is ahead of the ensemble’s by ${seconds(byMs)} at least: it registered before it was started`;
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
        `this machine’s clock and the ensemble’s agree within ${seconds(Math.abs(aheadMs) + withinMs)}`,
      ),
    ];
  }
  const way = aheadMs > 0 ? 'ahead of' : 'behind';
  const what = `this machine’s clock is ${way} the ensemble’s by ${seconds(surelyMs)} at least: logs of several machines do not eligible together`;
  return [finding('clock', 'warning', what, syncClocks)];
}

const syncClocks = 'let all machines keep time by NTP (chrony, systemd-timesyncd)';

/** Of many that are alike the first tell enough. */
const mostTold = 20;

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function checkVersions({ members }: GroupFacts, own: string): Finding[] {
  const versions = new Map<string, string[]>();
  for (const { node, version } of members) versions.set(version, [...(versions.get(version) ?? []), node]);
  const told = [...versions]
    .map(([version, nodes]) => `${version} on ${firstOf(nodes).join(', ')}`)
    .join('; ');
  if (versions.size > 1) {
    return [
      finding(
        'versions',
        'warning',
        `agents of different versions: ${told}`,
        'end the upgrade: agents run side by side for its time',
      ),
    ];
  }
  const [only] = versions.keys();
  if (only === undefined) return [];
  if (only !== own) {
    const what = `all agents have version ${only}, this command has ${own}`;
    return [
      finding('versions', 'note', what, `look with the command of version ${only}, or end the upgrade`),
    ];
  }
  return [ok('versions', `all agents have version ${only}`)];
}

function checkProbes({ members }: GroupFacts): Finding[] {
  const telling = members.filter(({ reaches }) => reaches !== null);
  const silent = telling.flatMap((from) => {
    return members
      .filter(({ node, probe }) => probe !== null && node !== from.node && !from.reaches?.includes(node))
      .map((to) => unanswered(from, to));
  });
  const findings = [...members.flatMap(unreached), ...silent];
  if (findings.length === 0 && telling.length === 0) return [];
  return orOk(
    findings.slice(0, mostTold),
    'peers',
    `all ${telling.length} nodes that probe reach all others that answer`,
  );
}

/** The same port takes the probes by UDP, so a machine that is not there is found out this way, too. */
function unreached({ node, probe, unreachable }: MemberFacts): Finding[] {
  if (probe === null || unreachable === null) return [];
  const what = `${node} cannot be reached from here by TCP at ${probe.host}:${probe.port}: ${unreachable}`;
  return [
    finding('peers', 'warning', what, 'open the way to it, and set probe.address where others reach it'),
  ];
}

function unanswered({ node }: MemberFacts, { node: peer, probe }: MemberFacts): Finding {
  const where = probe === null ? '' : ` at ${probe.host}:${probe.port}`;
  const todo = `open ${probe?.protocol === 'tcp' ? 'TCP' : 'UDP'} to it, set probe.address where others reach it, and the same secret on all`;
  return finding('peers', 'warning', `${peer} does not answer the probes of ${node}${where}`, todo);
}
