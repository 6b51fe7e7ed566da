/** Defines the commands `petrel acl …`, which show and set access rights to the group's znodes. */
import type { Command } from 'commander';
import * as z from 'zod';
import { accessOf, identityOf } from '../../config/access-settings.js';
import { PetrelError } from '../../errors.js';
import { exitCodes } from '../../exit-code.js';
import { lockedOut, readAcls, setAcl, toSet, type ZnodeAcl } from '../../group/access.js';
import { noGroup } from '../../group/no-group.js';
import type { Access } from '../../model/access.js';
import { aclText } from '../../model/acl.js';
import { oneLine } from '../../model/outside.js';
import { dangerLines, makeSure } from '../ask.js';
import { helpText } from '../help-text.js';
import { table } from '../layout.js';
import { type Printable, print } from '../output.js';
import { type Session, withSession } from '../session.js';
import { readClientSettings } from '../settings.js';
import { styled } from '../style.js';

export function addAcl(program: Command): void {
  const acl = program
    .command('acl')
    .summary('show and set the access rights of the znodes')
    .description('show and set the access rights (ACLs) of the group’s znodes');
  acl
    .command('show')
    .description('show the ACL of each znode, and the ACL that your settings require')
    .action(async (_options, command: Command) => {
      await withSession(command, async (session) => {
        const { store, paths } = session.access;
        const znodes = await readAcls(store, paths, accessOf(session.settings));
        if (znodes.length === 0) throw await noGroup(store, paths);
        print(session.settings.format, printable(znodes.map(result)));
      });
    });
  acl
    .command('apply')
    .description('set the ACL of every znode of the group to what your settings require')
    .option('--dry-run', 'show the ACLs that would be set, without setting them')
    .option('-y, --yes', 'skip confirmation prompts (asked only at a terminal)')
    .addHelpText('after', helpText(applyHelp))
    .action(async (_options, command: Command) => {
      await apply(command);
    });
  acl
    .command('digest')
    .description('print the identity of your credentials, for acl.agents, acl.operators or acl.observers')
    .addHelpText(
      'after',
      helpText(
        '\nPass the credentials with --auth-file or PETREL_AUTH. The command does not connect to ZooKeeper.',
      ),
    )
    .action(async (_options, command: Command) => {
      await printDigest(command);
    });
}

const applyHelp = `
Requires the credentials of an agent: only agents may set ACLs. Ephemeral znodes are included. Agents that run with other
settings keep creating znodes with other ACLs: restart them first, and check with petrel acl show afterwards.`;

export const aclsSchema = z.array(
  z.object({
    path: z.string(),
    /** The current ACL, without password hashes. Null if it cannot be read. */
    acl: z.string().nullable(),
    wanted: z.string(),
    right: z.boolean(),
  }),
);
type Acls = z.infer<typeof aclsSchema>;

function result({ path, acl, wanted, isRight }: ZnodeAcl): Acls[number] {
  return { path, acl: acl === null ? null : aclText(acl), wanted: aclText(wanted), right: isRight };
}

function printable(acls: Acls, before: readonly string[] = []): Printable {
  const header = ['znode', 'right', 'acl', 'required'];
  const cells = acls.map(({ path, acl, wanted, right }) => [path, right ? 'yes' : 'no', acl ?? '-', wanted]);
  return {
    json: acls,
    rows: [header, ...cells],
    pretty: (layout) => {
      const shown = cells.map(([path = '', right = '', acl = '', wanted = '']) => [
        oneLine(path),
        right === 'yes' ? right : styled('yellow', right),
        oneLine(acl),
        oneLine(wanted),
      ]);
      return [...before, table(header, shown, layout)].join('\n');
    },
  };
}

const applyOptionsSchema = z.object({ dryRun: z.boolean().default(false), yes: z.boolean().default(false) });
/**
 * Maximum number of passes over the znodes. One pass may not be enough, because an agent may register and
 * create znodes in the meantime.
 */
const passes = 3;

async function apply(command: Command): Promise<void> {
  const { dryRun, yes } = applyOptionsSchema.parse(command.opts());
  await withSession(command, async (session) => {
    const { store, paths } = session.access;
    const access = ownAccess(session);
    const before = await readAcls(store, paths, access);
    const wrong = toSet(before, paths, access);
    const dangers = access.world === 'all' ? [] : lockedOut(before, paths, access).map(lockedOutText);
    if (!dryRun && wrong.length > 0) {
      await makeSure({ question: `Set the ACL of ${wrong.length} znodes?`, dangers }, yes);
      await setAll(session, access, wrong);
    }
    if (!dryRun) process.exitCode = exitCodes.done;
    print(session.settings.format, printable(wrong.map(result), dryRun ? dangerLines(dangers) : []));
  });
}

function lockedOutText(node: string): string {
  return `${node} runs without an agent’s credentials and would be locked out: before you do this, restart it with authFile and the acl.* settings, with acl.world set to all`;
}

/**
 * Returns the access rights that the settings require. Throws PetrelError REFUSED if they would lock out this
 * process.
 */
function ownAccess({ settings }: Session): Access {
  const own = identityOf(settings);
  const access = accessOf(settings, own);
  if (access?.agents.some(({ id }) => id === own?.id)) return access;
  const problem =
    own === null ? 'no credentials given' : 'the given credentials are not listed in acl.agents';
  throw new PetrelError('REFUSED', `${problem}: only an agent listed in acl.agents can set ACLs`);
}

/** Sets all ACLs. Throws PetrelError CONFLICT if agents keep creating znodes with other ACLs. */
async function setAll(session: Session, access: Access, first: readonly ZnodeAcl[]): Promise<void> {
  const { store, paths } = session.access;
  let wrong = first;
  for (let pass = 0; pass < passes && wrong.length > 0; pass++) {
    for (const znode of wrong) await setAcl(store, znode);
    wrong = toSet(await readAcls(store, paths, access), paths, access);
  }
  if (wrong.length === 0) return;
  throw new PetrelError(
    'CONFLICT',
    'some agents keep creating znodes with other ACLs: restart all agents with the same acl.* settings',
    {
      reasons: wrong.map(({ path }) => path),
    },
  );
}

export const digestSchema = z.object({ identity: z.string() });

async function printDigest(command: Command): Promise<void> {
  const { settings } = await readClientSettings(command);
  const own = identityOf(settings);
  if (own === null) {
    throw new PetrelError(
      'INVALID',
      'no credentials given: pass --auth-file with a file that contains digest:USER:PASSWORD',
    );
  }
  const identity: z.infer<typeof digestSchema> = { identity: own.id };
  print(settings.format, {
    json: identity,
    rows: [['identity'], [identity.identity]],
    pretty: () => identity.identity,
  });
}
