/** Defines the commands `petrel node …`, which act on one node. */
import type { Command } from 'commander';
import * as z from 'zod';
import { exitCodes } from '../../exit-code.js';
import { type Eviction, evict, planEviction } from '../../group/evict.js';
import { clearFailure, drainNode, undrainNode } from '../../group/nodes.js';
import { awaitSettled, outcomeSchema } from '../../group/wait.js';
import { name } from '../arguments.js';
import { dangerLines, makeSure } from '../ask.js';
import { changeOptions, printOutcome, runChange, waitOptions } from '../change.js';
import { helpText } from '../help-text.js';
import { forTerminal, isForPeople, type Printable, print } from '../output.js';
import { checkAccess, withSession } from '../session.js';

const drainOptionsSchema = z.object({ allowUnknown: z.boolean().default(false) });

export function addNode(program: Command): void {
  const node = program
    .command('node')
    .summary('take a node out of service, put it back, or remove it')
    .description('take one node out of service, put it back, or remove it');
  changeOptions(
    node
      .command('drain')
      .description(
        'take a node out of service: if it leads, it hands over; it cannot be elected until petrel node undrain',
      )
      .argument('<node>', 'node id', name)
      .option('--allow-unknown', 'accept a node that is not registered: drain it before it joins'),
  ).action(async (id: string, _options, command: Command) => {
    const { allowUnknown } = drainOptionsSchema.parse(command.opts());
    await runChange(command, { request: drainNode(id, allowUnknown), until: 'settled' });
  });
  changeOptions(
    node
      .command('undrain')
      .description('put a drained node back into service')
      .argument('<node>', 'node id', name),
  ).action(async (id: string, _options, command: Command) => {
    await runChange(command, { request: undrainNode(id), until: 'settled' });
  });
  changeOptions(
    node
      .command('clear-failure')
      .description('clear a node’s failed takeovers, which ends its backoff')
      .argument('<node>', 'node id', name),
  ).action(async (id: string, _options, command: Command) => {
    await runChange(command, { request: clearFailure(id), until: 'settled' });
  });
  addEvict(node);
}

export const evictResultSchema = z.object({
  node: z.string(),
  dryRun: z.boolean(),
  /** Znodes that the eviction removed. In a dry run, the znodes that it would remove. */
  removed: z.array(z.string()),
  /** Reasons not to evict the node. */
  dangers: z.array(z.string()),
  /** Whether the node's claim remains. No other node can become leader while the claim exists. */
  leavesClaim: z.boolean(),
  /** Why the history has no record of the eviction. Null if it has one. */
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
      .summary('remove what a dead node left in ZooKeeper')
      .description(
        'remove the election znode and registration of a dead node from ZooKeeper; with --dead, its claim too',
      )
      .argument('<node>', 'node id', name)
      .option('--dead', 'confirm that this node and its workload are dead, so that another node can lead'),
  )
    .addHelpText(
      'after',
      helpText(`
A node that is still running registers again at once: to keep it out, drain it. Never remove the claim of a node that may
still be running: two nodes would lead.

Example:
  petrel node evict a1 --dead --reason "power is off"`),
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
      dangers: dangersOf(eviction, dead),
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
        {
          question: `Evict ${node}${dead ? ' and remove its claim' : ''}?`,
          dangers: dangersOf(eviction, dead),
        },
        yes,
      );
    };
    const done = result(await evict(access, session.author(reason), { node, dead }, accept));
    process.exitCode = exitCodes.done;
    const waits = wait && dead;
    if (!waits || isForPeople(settings.format)) print(settings.format, printable(done));
    if (!waits) return;
    const outcome = await awaitSettled(access, waitOptions(session));
    if (isForPeople(settings.format)) await printOutcome(session, outcome);
    else print(settings.format, printable({ ...done, outcome }));
  });
}

/**
 * Returns reasons against an eviction. A live node would register again. If the node is the live leader,
 * removing its claim would create two leaders.
 */
function dangersOf({ node, alive }: Eviction, dead: boolean): string[] {
  if (alive === null) return [];
  if (!dead) {
    return [
      `${node} seems to be alive (${alive.sign}) and would register again at once. To keep it out: petrel node drain ${node}`,
    ];
  }
  return alive.leads
    ? [
        `DANGER: ZooKeeper says ${node} is the live leader (${alive.sign}). If ${node} is running, this creates two leaders. If it has just died, wait: its claim expires with its session`,
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
      const { node, dryRun, removed, dangers, leavesClaim, unrecorded } = forTerminal(
        evictResultSchema,
        result,
      );
      return [
        `${dryRun ? 'Dry run: would remove' : 'Removed'} these znodes of ${node}:`,
        ...removed.map((line) => `  ${line}`),
        ...(dryRun ? dangerLines(dangers) : []),
        ...(leavesClaim
          ? [
              'Its claim remains, so no other node can lead. If you are sure that the node is dead, pass --dead',
            ]
          : []),
        ...(unrecorded === null ? [] : [`Not recorded in the history: ${unrecorded}`]),
      ].join('\n');
    },
  };
}
