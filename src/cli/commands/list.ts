/** Defines the command `petrel list`. */

import type { Command } from 'commander';
import * as z from 'zod';
import { requestText } from '../../core/requests.js';
import { PetrelError } from '../../errors.js';
import { withAnswers } from '../../group/judge.js';
import { type Listing, listing, listingSchema, type NodeListing } from '../../group/listing.js';
import { successorText } from '../../group/successor.js';
import { transitionText } from '../../group/transition.js';
import { helpText } from '../help-text.js';
import { type Layout, table } from '../layout.js';
import { listAll } from '../list-all.js';
import { forTerminal, type Printable } from '../output.js';
import { styled } from '../style.js';
import { agoText, sinceText, untilText } from '../times.js';
import { show, watchOption } from '../watch.js';

const optionsSchema = z.object({ all: z.boolean().default(false), under: z.string().optional() });

export function addList(program: Command): void {
  program
    .command('list')
    .alias('status')
    .summary('show leader, nodes and sites, and current transitions')
    .description(
      'show leader, nodes and sites with their roles, states, priorities and scores, and current transitions',
    )
    .addOption(watchOption())
    .option(
      '--all',
      'list all groups, one line each: the groups in the settings file, or else all groups in ZooKeeper',
    )
    .option('--under <path>', 'with --all: list the groups below this path')
    .addHelpText(
      'after',
      helpText(
        '\nExamples:\n  petrel list\n  petrel list -w\n  petrel list -f json | jq .leader.node\n  petrel list --all --under /services',
      ),
    )
    .action(async (_options, command: Command) => {
      const { all, under } = optionsSchema.parse(command.opts());
      if (all) return await listAll(command, under);
      if (under !== undefined) throw new PetrelError('INVALID', '--under requires --all');
      await show(command, async (group, nowMs) =>
        withAnswers(group, (view) => printable(listing(view, nowMs), nowMs)),
      );
    });
}

const header = ['node', 'site', 'roles', 'state', 'site priority', 'priority', 'score', 'seat', 'eligible'];

function printable(list: Listing, nowMs: number): Printable {
  const rows = list.nodes.map((node) => [...cells(list, node), node.reasons.join('; ')]);
  return {
    json: list,
    rows: [[...header, 'reasons'], ...rows],
    pretty: (layout) => pretty(forTerminal(listingSchema, list), nowMs, layout),
  };
}

/** The table does not say why nodes are ineligible, because the footer does. */
const columns = { wideOnly: ['seat'], idle: { eligible: 'yes' } };

function pretty(list: Listing, nowMs: number, layout: Layout): string {
  const rows = list.nodes.map((node) => styledCells(list, node));
  const nodes = rows.length === 0 ? 'No node is registered.' : table(header, rows, layout, columns);
  return [...summary(list, nowMs, layout), '', nodes, ...footer(list, nowMs, layout)].join('\n');
}

function cells(list: Listing, node: NodeListing, scoreText: (score: number) => string = String): string[] {
  const site = list.sites.find(({ site: name }) => name === node.site);
  return [
    node.node,
    node.site ?? '?',
    [...node.roles, ...(list.leaders.length > 1 && node.slot !== null ? [`slot ${node.slot}`] : [])].join(
      ',',
    ),
    node.state,
    site === undefined ? '?' : String(site.priority),
    String(node.priority ?? '?'),
    node.score === null ? '-' : scoreText(node.score),
    String(node.seat ?? '-'),
    node.eligible ? 'yes' : 'no',
  ];
}

const stateStyles = {
  READY: 'green',
  UNHEALTHY: 'red',
  BACKOFF: 'red',
  DRAINING: 'yellow',
  PROGRESS: 'yellow',
  ELECTED: 'yellow',
  RELEASING: 'yellow',
  STANDBY: 'dim',
} as const;

/** Returns the cells of a node's row, in colour. Marks the node if it has problems. */
function styledCells(list: Listing, node: NodeListing): string[] {
  const [name = '', site = '', roles = '', state = '', ...rest] = cells(list, node, shortScore);
  const isOdd = list.problems.some((problem) => problem.node === node.node);
  return [isOdd ? `${name} !` : name, site, roles, styled(stateStyles[node.state], state), ...rest];
}

/**
 * Formats a score for operators: three decimals, or three significant digits for scores that would otherwise
 * be rounded to 0.
 */
function shortScore(score: number): string {
  const decimals = score.toFixed(3);
  return String(Number(Number(decimals) === 0 ? score.toPrecision(3) : decimals));
}

function summary(list: Listing, nowMs: number, layout: Layout): string[] {
  const group = `Group ${list.root}, strategy ${list.strategy}, elector ${list.elector ?? 'none'}`;
  if (list.leaders.length === 1) return [group, ...leaderLines(list, nowMs, layout)];
  return [
    group,
    ...list.leaders.flatMap((each) => {
      const [first = '', ...rest] = leaderLines(each, nowMs, layout);
      return [`Slot ${each.slot}: ${first}`, ...rest.map((line) => `  ${line}`)];
    }),
  ];
}

function leaderLines(
  { leader, elected }: Pick<Listing, 'leader' | 'elected'>,
  nowMs: number,
  layout: Layout,
): string[] {
  if (leader?.status === 'READY') {
    const since = `READY ${sinceText(leader.since, nowMs, layout)}`;
    const leads = styled('green', `Leader: ${leader.node ?? '?'} (site ${leader.site ?? '?'})`);
    return [
      `${leads}, ${since}, term ${leader.term}, fencing token ${leader.fencingToken}`,
      because(elected),
    ];
  }
  return [styled('red', `No leader, term ${elected.term}`), because(elected)];
}

function because({ node, reason }: Listing['elected']): string {
  return `${node === null ? 'No node elected' : `Elected: ${node}`} (${reason})`;
}

/** Returns the lines to print below the table. */
function footer(list: Listing, nowMs: number, layout: Layout): string[] {
  const lines = [
    ...pausedLines(list, nowMs, layout),
    ...list.leaders.flatMap(({ slot, transition }) => {
      if (transition === null) return [];
      const which = list.leaders.length === 1 ? '' : `slot ${slot}, `;
      return [styled('yellow', `Transition, ${which}term ${transition.term}: ${transitionText(transition)}`)];
    }),
    ...(list.switchover === null
      ? []
      : [
          styled(
            'yellow',
            `Pending: ${requestText(list.switchover).replace(/,$/, '')}: ${list.switchover.reason}`,
          ),
        ]),
    ...siteLines(list, nowMs, layout),
    ...list.leaders.flatMap(({ slot, preferred }) => {
      if (preferred === null) return [];
      const which = list.leaders.length === 1 ? '' : ` for slot ${slot}`;
      return [`Preferred leader available${which}: ${preferred.node} (${preferred.reason})`];
    }),
    ...(list.successor === null ? [] : [successorText(list.successor, list.leader?.node ?? null)]),
    ...list.nodes
      .filter(({ eligible }) => !eligible)
      .map(({ node, reasons }) => `Ineligible: ${node}: ${reasons.join(', ')}`),
    ...list.problems.map(({ path, problem }) => styled('red', `! ${path}: ${problem}`)),
  ];
  return lines.length === 0 ? [] : ['', ...lines];
}

function pausedLines({ paused }: Listing, nowMs: number, layout: Layout): string[] {
  if (paused === null) return [];
  const at = layout.isWide ? ` (${paused.at})` : '';
  const text = `Paused by ${paused.by}, ${agoText(paused.at, nowMs)}${at}: ${paused.reason}`;
  return [styled('yellow', `${text}. Automatic transitions are off until petrel resume`)];
}

function siteLines({ sites }: Listing, nowMs: number, layout: Layout): string[] {
  return sites.flatMap(({ site, drained, failed, override }) => [
    ...(failed === null
      ? []
      : [styled('red', `Site ${site} is marked failed (by ${failed.by}): ${failed.reason}`)]),
    ...(drained === null
      ? []
      : [styled('yellow', `Site ${site} is drained (by ${drained.by}): ${drained.reason}`)]),
    ...(override === null
      ? []
      : [
          `Override: site ${site} has priority ${override.priority} ${
            override.until === null
              ? 'until petrel site reset'
              : `${untilText(override.until, nowMs, layout)}, then ${override.priorityAfter}`
          }, by ${override.by}: ${override.reason}`,
        ]),
  ]);
}
