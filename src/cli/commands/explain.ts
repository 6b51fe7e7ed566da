/** Defines the command `petrel explain`. */

import type { Command } from 'commander';
import * as z from 'zod';
import { remainsElectedText } from '../../core/decision.js';
import { PetrelError } from '../../errors.js';
import { type Explanation, explain, explanationSchema, tieText } from '../../group/explain.js';
import { readableConfig, withAnswers } from '../../group/judge.js';
import { viewOfSlot } from '../../group/slot-view.js';
import { successorText } from '../../group/successor.js';
import type { GroupView } from '../../group/view.js';
import { prepareStrategy } from '../../model/read-config.js';
import { helpText } from '../help-text.js';
import { type Layout, table } from '../layout.js';
import { forTerminal, type Printable } from '../output.js';
import { slotOption } from '../slot-option.js';
import { styled } from '../style.js';
import { show, watchOption } from '../watch.js';

const optionsSchema = z.object({
  without: z.array(z.string()).default([]),
  withoutSite: z.array(z.string()).default([]),
  strategy: z.string().optional(),
  slot: z.int().default(1),
});

export function addExplain(program: Command): void {
  program
    .command('explain')
    .summary('show which node would be elected now, and why')
    .description('show which node would be elected now, the ranking, and why other nodes are ineligible')
    .option('--without <node...>', 'pretend that these nodes are gone')
    .option('--without-site <site...>', 'pretend that these sites are gone')
    .option('--strategy <name>', 'pretend that this strategy is configured')
    .addOption(slotOption('slot to explain, in a group with several leaders (default: 1)'))
    .addOption(watchOption())
    .addHelpText('after', helpText('\nExamples:\n  petrel explain\n  petrel explain --without-site a'))
    .action(async (_options, command: Command) => {
      const { without, withoutSite, strategy, slot } = optionsSchema.parse(command.opts());
      await show(command, async (group, nowMs) =>
        withAnswers(group, (view) => {
          const other = strategy === undefined ? {} : { strategy: otherStrategy(view, strategy) };
          const whatIf = { without, withoutSites: withoutSite, ...other };
          return printable(explain(viewOfSlot(view, slot), nowMs, whatIf));
        }),
      );
    });
}

/**
 * Returns a strategy with its options. The group's own strategy gets the group's options. Any other strategy
 * gets its defaults.
 */
function otherStrategy(view: GroupView, name: string) {
  const config = readableConfig(view);
  const strategyOptions = name === config.strategy ? config.strategyOptions : {};
  const other = { strategy: name, strategyOptions };
  const { problems } = prepareStrategy(other, view.rules);
  if (problems === null) return other;
  throw new PetrelError('INVALID', `--strategy: ${problems.join('; ')}`, { reasons: problems });
}

function printable(explanation: Explanation): Printable {
  const { ranking, ineligible } = explanation;
  return {
    json: explanation,
    rows: [
      ['rank', 'node', 'site', 'reason'],
      ...ranking.map(({ rank, node, site, reason }) => [String(rank), node, site, reason]),
      ...ineligible.map(({ node, site, ineligibleReasons }) => [
        '-',
        node,
        site ?? '?',
        ineligibleReasonsText(ineligibleReasons),
      ]),
    ],
    pretty: (layout) => pretty(forTerminal(explanationSchema, explanation), layout),
  };
}

function pretty(explanation: Explanation, layout: Layout): string {
  const { ranking, ineligible } = explanation;
  const ranks = ranking.map(({ rank, node, site, reason }) => [String(rank), node, site, reason]);
  return [
    ...headline(explanation),
    '',
    ...(ranks.length === 0
      ? ['No node is eligible.']
      : [table(['rank', 'node', 'site', 'why'], ranks, layout)]),
    ...(ineligible.length === 0 ? [] : ['', 'Ineligible:']),
    ...ineligible.flatMap(({ node, site, ineligibleReasons }) => [
      `  ${styled('red', node)} (site ${site ?? '?'})`,
      ...ineligibleReasons.map(({ reason }) => `    ${reason}`),
    ]),
  ].join('\n');
}

function headline(explanation: Explanation): string[] {
  const { root, strategy, slot, without, elected, choice, successor } = explanation;
  const away = [
    ...without.nodes.map((node) => `node ${node}`),
    ...without.sites.map((site) => `site ${site}`),
  ];
  const which = slot === 1 ? '' : `, slot ${slot}`;
  const where = `Group ${root}${which}, strategy ${strategy}${away.length === 0 ? '' : `, without ${away.join(', ')}`}`;
  const verdict = choice.changes
    ? insteadText(choice.node, elected.node)
    : `${remainsElectedText(choice.node)} (term ${elected.term})`;
  const tie = tieText(explanation);
  return [
    where,
    styled('bold', `${verdict}: ${choice.reason}`),
    ...(tie === null ? [] : [tie]),
    ...(successor === null ? [] : [successorText(successor, elected.node)]),
  ];
}

function insteadText(next: string | null, present: string | null): string {
  if (next === null) return `${present} would no longer be elected, and no node would replace it`;
  return present === null ? `${next} would be elected` : `${next} would be elected instead of ${present}`;
}

function ineligibleReasonsText(ineligibleReasons: readonly { reason: string }[]): string {
  return ineligibleReasons.map(({ reason }) => reason).join('; ');
}
