/** What `petrel dev` tells people: commands to try, and one line for each transition. */
import { recordText } from '../core/records.js';
import type { Stage } from '../dev/group.js';
import { readyLeader } from '../dev/group.js';
import type { DevHttp } from '../dev/http.js';
import { present } from '../errors.js';
import { gapsOf } from '../group/history.js';
import type { GroupView } from '../group/view.js';
import { oneLine } from '../model/outside.js';
import type { TransitionRecord } from '../model/znodes.js';
import { lengthText } from './times.js';

/** Describes a transition that has ended, in one line. `petrel history` has the details. */
export function transitionText(record: TransitionRecord): string {
  const { error, reason } = record;
  const why = error === null ? reason : `${error.phase}: ${error.reason}`;
  return oneLine(`${recordText(record)}${gapText(record)}: ${why}`);
}

function gapText(record: TransitionRecord): string {
  const gap = gapsOf([record]).get(record);
  if (gap === undefined || gap.lengthMs === null) return '';
  return `, ${gap.atLeast ? 'at least ' : ''}${lengthText(gap.lengthMs)} without a leader`;
}

export interface Tried {
  /** The command that runs Petrel here. */
  readonly invocation: string;
  /** Options that the commands need, each preceded by a space. */
  readonly options: string;
  readonly agents: Pick<Stage['agents'], 'nodes' | 'isRunning' | 'guardianPid'>;
  readonly http: DevHttp | null;
  /** Time after which a dead node is replaced if its guardian died with its agent. */
  readonly sessionTimeout: string;
}

/** Returns commands to try, for a terminal of 80 columns. */
export function whatToTry(view: Pick<GroupView, 'current' | 'members'>, tried: Tried): string[] {
  const leader = readyLeader(view);
  const command = (text: string) => `  ${tried.invocation} ${text}${tried.options}`;
  return [
    '',
    leader === null
      ? 'No node is READY at the moment. In another terminal, try:'
      : `READY: ${leader} is the leader. In another terminal, try:`,
    '',
    command('list'),
    command('explain'),
    '  # move leadership to site b, and back:',
    command('site priority a 0 --for 10m --reason "new switch"'),
    command('site reset a'),
    '  # hand over to the next best node:',
    command('switchover --yes'),
    command('history'),
    ...(leader === null ? [] : waysToKill(leader, view, tried)),
    ...(tried.http === null ? [] : httpToTry(tried.http, tried.agents.nodes)),
    '',
  ];
}

function waysToKill(
  leader: string,
  { members }: Pick<GroupView, 'members'>,
  { agents, sessionTimeout }: Tried,
): string[] {
  const agent = members.find(({ node }) => node === leader)?.value?.pid ?? 'PID';
  const guardian = agents.isRunning(leader) ? agents.guardianPid(leader) : 'PID';
  return [
    `  # kill the agent of ${leader}, which its guardian restarts; or the guardian; or both.`,
    `  # Another node is READY at once, or within ${sessionTimeout} if both are killed:`,
    `  kill -9 ${agent}`,
    `  kill -9 ${guardian}`,
    `  kill -9 ${guardian} ${agent}`,
  ];
}

function httpToTry(http: DevHttp, nodes: readonly string[]): string[] {
  const [first, ...others] = nodes.map((node) => `${node} ${http.urlOf(node)}`);
  const url = http.urlOf(present(nodes[0], 'a first node'));
  return [
    '',
    `HTTP: ${[first, ...others.slice(0, 1)].join(', ')},`,
    `      ${others.slice(1).join(', ')}`,
    '',
    `  ${url}/    # status page`,
    `  curl -si ${url}/leader    # 200 while ${nodes[0]} leads, else 503`,
    `  curl -s ${url}/status`,
    `  curl -sN ${url}/events`,
    '  # changes require the token in this file:',
    `  curl -si -X POST ${url}/switchover \\`,
    `    -H "Authorization: Bearer $(cat ${http.tokenFile})"`,
  ];
}
