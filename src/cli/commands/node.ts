/** `petrel node …`: one node. */
import type { Command } from 'commander';
import * as z from 'zod';
import { exitCodes } from '../../exit-code.js';
import { type Eviction, evict, planEviction } from '../../group/evict.js';
import { clearFailure, drainNode, undrainNode } from '../../group/nodes.js';
import { awaitSettled, outcomeSchema } from '../../group/wait.js';
import { name } from '../arguments.js';
import { makeSure } from '../ask.js';
import { changeOptions, runChange, saidYes, tellOutcome, waitOptions } from '../change.js';
import { forTerminal, type Printable, print } from '../output.js';
import { checkAccess, withSession } from '../session.js';

export function addNode(program: Command): void {
  const node = program.command('node').description('one node: drain, undrain, clear-failure, evict');
  changeOptions(
    node
      .command('drain')
      .description('take a node out: it is not elected until petrel node undrain, and hands over if it leads')
      .argument('<node>', 'node id', name),
  ).action(async (id: string, _options, command: Command) => {
    await runChange(command, { request: drainNode(id, saidYes(command)), until: 'settled' });
  });
  changeOptions(
    node.command('undrain').description('take a drained node back').argument('<node>', 'node id', name),
  ).action(async (id: string, _options, command: Command) => {
    await runChange(command, { request: undrainNode(id), until: 'settled' });
  });
  changeOptions(
    node
      .command('clear-failure')
      .description('end a node’s backoff after failed takeovers')
      .argument('<node>', 'node id', name),
  ).action(async (id: string, _options, command: Command) => {
    await runChange(command, { request: clearFailure(id), until: 'settled' });
  });
  addEvict(node);
}

export const evictResultSchema = z.object({
  node: z.string(),
  dryRun: z.boolean(),
  /** What was, or would be, removed from the tree. */
  removed: z.array(z.string()),
  /** Its claim still stands: leadership does not pass on before it is gone. */
  leavesClaim: z.boolean(),
  /** Why the history does not tell of it; null where it does. */
  unrecorded: z.string().nullable(),
  outcome: outcomeSchema.nullable(),
});
type EvictResult = z.infer<typeof evictResultSchema>;

const evictOptionsSchema = z.object({
  dead: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  yes: z.boolean().default(false),
  wait: z.boolean().default(true),
  reason: z.string().optional(),
});

function addEvict(node: Command): void {
  changeOptions(
    node
      .command('evict')
      .description(
        'remove what a dead node left in ZooKeeper: its seat and registration, with --dead its claim too',
      )
      .argument('<node>', 'node id', name)
      .option('--dead', 'I know that this node is dead, workload and all: let another lead'),
  )
    .addHelpText(
      'after',
      `
A node that lives registers again at once: to keep one out, drain it. The claim of a node that is not dead must
not be removed: two nodes would lead.

Example:
  petrel node evict a1 --dead --reason "power is off"`,
    )
    .action(async (id: string, _options, command: Command) => {
      await runEvict(command, id);
    });
}

async function runEvict(command: Command, node: string): Promise<void> {
  const { dead, dryRun, yes, wait, reason } = evictOptionsSchema.parse(command.opts());
  await withSession(command, async (session) => {
    const { access, settings } = session;
    const result = (eviction: Eviction): EvictResult => ({
      node,
      dryRun,
      removed: [...eviction.removes],
      leavesClaim: eviction.leavesClaim,
      unrecorded: eviction.unrecorded,
      outcome: null,
    });
    if (dryRun) {
      print(settings.format, printable(result(await planEviction(access, { node, dead }))));
      return;
    }
    await checkAccess(session);
    const accept = async (eviction: Eviction) => {
      await makeSure(
        { question: `Evict ${node}${dead ? ', claim and all' : ''}?`, dangers: dangersOf(eviction, dead) },
        yes,
      );
    };
    const done = result(await evict(access, session.author(reason), { node, dead }, accept));
    process.exitCode = exitCodes.done;
    const waits = wait && dead;
    if (!waits || settings.format === 'pretty') print(settings.format, printable(done));
    if (!waits) return;
    const outcome = await awaitSettled(access, waitOptions(session));
    if (settings.format === 'pretty') await tellOutcome(session, outcome);
    else print(settings.format, printable({ ...done, outcome }));
  });
}

/** Evicting a node that lives is in vain; removing the claim of one that leads makes two leaders. */
function dangersOf({ node, alive }: Eviction, dead: boolean): string[] {
  if (alive === null) return [];
  if (!dead) {
    return [
      `${node} seems to be alive: ${alive.sign}; it would register again at once (to keep it out: petrel node drain)`,
    ];
  }
  return alive.leads
    ? [
        `${node} leads, as far as ZooKeeper tells: ${alive.sign}; if it lives, two nodes lead. The claim of a node that died just now ends by itself, with its session`,
      ]
    : [];
}

function printable(result: EvictResult): Printable {
  return {
    json: result,
    rows: [
      ['node', 'removed', 'leaves claim', 'outcome'],
      [result.node, result.removed.join('; '), String(result.leavesClaim), result.outcome?.state ?? '-'],
    ],
    pretty: () => {
      const { node, dryRun, removed, leavesClaim, unrecorded } = forTerminal(evictResultSchema, result);
      return [
        `${dryRun ? 'Would remove' : 'Removed'} of ${node}:`,
        ...removed.map((line) => `  ${line}`),
        ...(leavesClaim
          ? ['Its claim stays: nobody else leads before it is gone. If the node is dead for certain: --dead']
          : []),
        ...(unrecorded === null ? [] : [`Recorded: no, ${unrecorded}`]),
      ].join('\n');
    },
  };
}
