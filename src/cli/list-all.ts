/** Implements `petrel list --all`, which lists groups, one per line. */

import type { Command } from 'commander';
import { hasGroups } from '../config/group-settings.js';
import { commonSettings } from '../config/node-settings.js';
import { readSettings } from '../config/read-settings.js';
import { clientSettings, groupsSettings } from '../config/settings.js';
import { PetrelError } from '../errors.js';
import { childrenOf, findGroups, type GroupLine, readGroups } from '../group/all-groups.js';
import { KeptClock } from '../group/time.js';
import { cut } from '../model/outside.js';
import { rootsBelow } from '../model/paths.js';
import { table } from './layout.js';
import { type Printable, print } from './output.js';
import { type Session, withEnsemble } from './session.js';
import { styled } from './style.js';

/**
 * Lists the groups at or below the path `under`. If `under` is undefined, lists the groups in the settings
 * file, or all groups if the file does not name any. Throws PetrelError INVALID.
 */
export async function listAll(command: Command, under: string | undefined): Promise<void> {
  if (under !== undefined && under !== '/' && !commonSettings.shape.root.safeParse(under).success)
    throw new PetrelError(
      'INVALID',
      '--under: expected an absolute path without a trailing slash, such as /services',
    );
  const configured = clientSettings.extend(groupsSettings);
  const sources = { flags: command.optsWithGlobals(), env: process.env };
  const { values } = await readSettings(configured, sources);
  await withEnsemble(command, async (session) => {
    const roots = await rootsOf(session, under, values);
    const lines = await readGroups(session.access, roots, new KeptClock(session.access.clock));
    print(session.settings.format, printable(lines));
  });
}

type Configured = Parameters<typeof hasGroups>[0];

/**
 * Warns that the znodes below a path cannot be read. Without the warning, the operator might conclude that
 * there are no groups below the path.
 */
function closed(path: string): void {
  const right = 'use --auth-file to pass credentials that allow it';
  process.stderr.write(`petrel: no permission to read the znodes below ${cut(path)}: ${right}\n`);
}

async function rootsOf(
  { access }: Session,
  under: string | undefined,
  configured: Configured,
): Promise<string[]> {
  const { store } = access;
  if (under !== undefined || !hasGroups(configured)) return await findGroups(store, under ?? '/', closed);
  const { groups, groupsUnder } = configured;
  const children = groupsUnder === null ? [] : await childrenOf(store, groupsUnder, closed);
  const found = groupsUnder === null ? [] : rootsBelow(groupsUnder, children);
  return [...new Set([...groups.map(({ root }) => root), ...found])].toSorted();
}

const header = ['root', 'leader', 'status', 'term', 'elector', 'nodes', 'paused', 'transition'];

function printable(lines: readonly GroupLine[]): Printable {
  const rows = lines.flatMap(rowsOf);
  return {
    json: lines,
    rows: [header, ...rows],
    pretty: (layout) =>
      lines.length === 0
        ? 'No groups found.'
        : table(header, rows.map(coloured), layout, { idle: { paused: 'no' } }),
  };
}

/**
 * Returns one row for each slot. If there are several slots, each term is shown as SLOT:TERM, as in the
 * history.
 */
function rowsOf({ root, leaders, elector, nodes, paused, problem }: GroupLine): string[][] {
  const isSeveral = leaders.length > 1;
  const group = [elector ?? '-', String(nodes), paused ? 'yes' : 'no'];
  if (problem !== null) return [[root, '-', '-', '-', ...group, `! ${problem}`]];
  return leaders.map(({ slot, leader, status, term, transition }) => [
    root,
    leader ?? '-',
    status ?? '-',
    `${isSeveral ? `${slot}:` : ''}${term ?? '-'}`,
    ...group,
    transition ?? '',
  ]);
}

function coloured([root = '', leader = '', status = '', ...rest]: readonly string[]): string[] {
  const colour = status === 'READY' ? 'green' : status === 'PROGRESS' ? 'yellow' : 'red';
  return [root, leader === '-' ? 'none' : leader, styled(colour, status), ...rest];
}
