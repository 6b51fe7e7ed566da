/** Texts of `petrel dev`: commands to try, and one line for each transition. */
import { recordText } from '../core/records.js';
import type { Stage } from '../dev/group.js';
import { readyLeader } from '../dev/group.js';
import type { DevHttp } from '../dev/http.js';
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
  /** The command that runs Petrel: `petrel`, or `./petrel` in a clone of the repository. */
  readonly invocation: string;
  /** Options that the commands need, each preceded by a space. */
  readonly options: string;
  readonly agents: Pick<Stage['agents'], 'nodes' | 'siteOf' | 'isRunning' | 'guardianPid'>;
  readonly http: Pick<DevHttp, 'urlOf' | 'tokenFile'> | null;
  /** Time after which a dead node is replaced if its guardian died together with its agent. */
  readonly sessionTimeout: string;
  /** Whether Enter shows the commands again. */
  readonly isAtKeyboard: boolean;
}

/** Returns commands to try, formatted for a terminal with 80 columns. */
export function whatToTry(view: Pick<GroupView, 'current' | 'members'>, tried: Tried): string[] {
  const leader = readyLeader(view);
  const command = (text: string) => `  ${tried.invocation} ${text}${tried.options}`;
  const alive = tried.agents.nodes.filter((node) => tried.agents.isRunning(node));
  const isAlive = (site: string) => alive.some((node) => tried.agents.siteOf(node) === site);
  return [
    '',
    leader === null
      ? 'No node is READY at the moment. In another terminal, try:'
      : `READY: ${leader} is the leader. In another terminal, try:`,
    '',
    command('list'),
    command('explain'),
    ...(isAlive('a') && isAlive('b') ? moves(leader, tried.agents, command) : []),
    '  # hand over to the next best node:',
    command('switchover --yes'),
    command('history'),
    ...(leader === null ? [] : waysToKill(leader, view, tried)),
    ...(tried.http === null ? [] : httpToTry(tried.http, alive)),
    '',
  ];
}

/**
 * Returns commands that move leadership between the sites. Site `a` has the higher priority unless its
 * priority is overridden.
 */
function moves(
  leader: string | null,
  agents: Pick<Tried['agents'], 'siteOf'>,
  command: (text: string) => string,
): string[] {
  if (leader !== null && agents.siteOf(leader) === 'b') {
    const what = '  # end an override of the priority of site a, which moves leadership back:';
    return [what, command('site reset a')];
  }
  return [
    '  # move leadership to site b, and back:',
    command('site priority a 0 --for 10m --reason "new switch"'),
    command('site reset a'),
  ];
}

function waysToKill(
  leader: string,
  { members }: Pick<GroupView, 'members'>,
  { agents, sessionTimeout, isAtKeyboard }: Tried,
): string[] {
  const agent = members.find(({ node }) => node === leader)?.value?.pid ?? 'PID';
  const guardian = agents.isRunning(leader) ? agents.guardianPid(leader) : 'PID';
  const both = `kill -9 ${guardian} ${agent}`;
  const kill = (pids: string | number, what: string) =>
    `  ${`kill -9 ${pids}`.padEnd(both.length)}    # ${what}`;
  return [
    ...(isAtKeyboard
      ? [
          '  # Crash the leader in one of three ways. If it has changed since this was',
          '  # printed, press Enter first: then the process ids have changed too.',
        ]
      : [`  # Crash the leader in one of three ways, while ${leader} still leads:`]),
    kill(agent, `${leader}'s agent, which its guardian restarts`),
    kill(guardian, `or its guardian: then ${leader} leaves for good`),
    kill(`${guardian} ${agent}`, `or both: another node leads within ${sessionTimeout}`),
  ];
}

/** Describes a node whose guardian has ended. `petrel dev` does not restart the node. */
export function leftText(node: string): string {
  return `${node} has left, because its guardian ended. To get it back, restart petrel dev`;
}

function httpToTry(http: Pick<DevHttp, 'urlOf' | 'tokenFile'>, alive: readonly string[]): string[] {
  const [node] = alive;
  if (node === undefined) return [];
  const url = http.urlOf(node);
  const places = alive.map((one) => `${one} ${http.urlOf(one)}`);
  const [first, second] = [places.slice(0, 2).join(', '), places.slice(2).join(', ')];
  return [
    '',
    ...(second === '' ? [`HTTP: ${first}`] : [`HTTP: ${first},`, `      ${second}`]),
    '',
    `  ${url}/    # status page`,
    `  curl -si ${url}/leader    # 200 while ${node} leads, else 503`,
    `  curl -s ${url}/status`,
    `  curl -sN ${url}/events`,
    '  # changes require the token in this file:',
    `  curl -si -X POST ${url}/switchover \\`,
    `    -H "Authorization: Bearer $(cat ${http.tokenFile})"`,
  ];
}
