/** Defines the commands `petrel switchover` and `petrel failover`. */
import { type Command, Option } from 'commander';
import * as z from 'zod';
import { cancelSwitchover, failover, switchover, type Target } from '../../group/handover.js';
import { name, pointInTime } from '../arguments.js';
import { changeOptions, runChange, saidYes } from '../change.js';
import { helpText } from '../help-text.js';
import { slotOption } from '../slot-option.js';

const switchoverSchema = z.object({
  to: z.string().optional(),
  toSite: z.string().optional(),
  at: z.custom<(nowMs: number) => number>((value) => typeof value === 'function').optional(),
  cancel: z.boolean().default(false),
  slot: z.int().optional(),
});

export function addSwitchover(program: Command): void {
  changeOptions(
    program
      .command('switchover')
      .summary('hand leadership over gracefully')
      .description('hand leadership over gracefully; refused if the target is ineligible')
      .addOption(
        new Option('--to <node>', 'node that takes over (default: the best other node)').argParser(name),
      )
      .addOption(
        new Option('--to-site <site>', 'hand over to the best node of this site')
          .argParser(name)
          .conflicts('to'),
      )
      .addOption(slotOption('slot whose leader hands over, in a group with several leaders'))
      .addOption(
        new Option(
          '--at <time>',
          'earliest time: a timestamp with time zone, or a duration from now',
        ).argParser(pointInTime),
      )
      .addOption(new Option('--cancel', 'cancel a pending switchover').conflicts(['to', 'toSite', 'at'])),
  )
    .addHelpText(
      'after',
      helpText(`
Examples:
  petrel switchover --to b1 --reason "kernel update"
  petrel switchover --to-site b --at 2026-01-31T02:00:00Z
  petrel switchover --at 30m`),
    )
    .action(async (_options, command: Command) => {
      const { to, toSite, at, cancel, slot } = switchoverSchema.parse(command.opts());
      if (cancel) return runChange(command, { request: cancelSwitchover, until: 'settled' });
      await runChange(command, {
        request: switchover({ to: target(to, toSite), notBeforeMs: at ?? null, slot }),
        question: 'Hand leadership over?',
        until: 'term',
      });
    });
  changeOptions(
    program
      .command('failover')
      .summary('make a node the leader, even an ineligible one')
      .description('make a node the leader, even an ineligible one; fencing is never skipped')
      .requiredOption('--to <node>', 'node that takes over', name)
      .addOption(slotOption('slot to fill, in a group with several leaders')),
  )
    .addHelpText('after', helpText('\nExample:\n  petrel failover --to b1 --reason "site a is on fire"'))
    .action(async (_options, command: Command) => {
      const { to, slot } = failoverSchema.parse(command.opts());
      await runChange(command, {
        request: failover({ to, evenUnderWay: saidYes(command), slot }),
        question: `Make ${to} the leader, even if it is ineligible?`,
        until: 'term',
      });
    });
}

const failoverSchema = z.object({ to: z.string(), slot: z.int().optional() });

function target(to: string | undefined, toSite: string | undefined): Target {
  if (to !== undefined) return { node: to };
  return toSite === undefined ? 'best-other' : { site: toSite };
}
