/** Prepares the sites as columns, and the nodes as cards. */
import type { NodeState, NodeStatus, SiteStatus, Status } from './schemas.js';
import { isSeveral } from './slots.js';

export interface SiteColumn {
  readonly name: string;
  /** Settings of the site. Null for nodes whose site is not known. */
  readonly settings: SiteStatus | null;
  readonly nodes: readonly NodeCard[];
  /** Number of eligible nodes as text, for example "3 of 4 eligible". */
  readonly eligible: string;
}

export interface NodeCard extends NodeStatus {
  readonly look: Look;
  /**
   * The node's state, for example "READY". In a group with several leaders, the tag includes the slot: "slot
   * 2 · READY".
   */
  readonly tag: string;
  /** The node's roles in words: the elector, the leader, the candidate. */
  readonly parts: readonly string[];
  /** Problems with znodes that belong to the node. */
  readonly problems: readonly string[];
}

export type Look = 'led' | 'moving' | 'problem' | 'away' | 'plain';

const looks: Readonly<Record<NodeState, Look>> = {
  READY: 'led',
  PROGRESS: 'moving',
  ELECTED: 'moving',
  RELEASING: 'moving',
  DRAINING: 'away',
  BACKOFF: 'problem',
  UNHEALTHY: 'problem',
  STANDBY: 'plain',
};

const inOrder = new Intl.Collator('en', { numeric: true });

/** Returns the columns, ordered by name, so that no column moves when leadership moves. */
export function columnsOf(status: Status): SiteColumn[] {
  const { sites, nodes, problems } = status;
  const several = isSeveral(status);
  const problemsOf = new Map<string, string[]>();
  for (const { node, path, problem } of problems) {
    if (node !== null) problemsOf.set(node, [...(problemsOf.get(node) ?? []), `${path} ${problem}`]);
  }
  const cards = nodes
    .toSorted((a, b) => inOrder.compare(a.node, b.node))
    .map((node) => cardOf(node, several, problemsOf.get(node.node) ?? []));
  const known = sites
    .toSorted((a, b) => inOrder.compare(a.site, b.site))
    .map((settings) => columnOf(settings.site, settings, cards));
  const unplaced = cards.filter(({ site }) => !sites.some((one) => one.site === site));
  return unplaced.length === 0 ? known : [...known, column('unknown site', null, unplaced)];
}

function columnOf(name: string, settings: SiteStatus, cards: readonly NodeCard[]): SiteColumn {
  return column(
    name,
    settings,
    cards.filter(({ site }) => site === name),
  );
}

function column(name: string, settings: SiteStatus | null, nodes: readonly NodeCard[]): SiteColumn {
  const eligible = nodes.filter(({ eligible }) => eligible).length;
  return {
    name,
    settings,
    nodes,
    eligible: nodes.length === 0 ? 'no nodes' : `${eligible} of ${nodes.length} eligible`,
  };
}

function cardOf(node: NodeStatus, several: boolean, problems: readonly string[]): NodeCard {
  // The owner of the claim has the role `leader` even before it leads. The state shows how far its takeover
  // has progressed.
  const parts = node.roles.filter((role) => role !== 'leader' || node.state === 'READY');
  const tag = several && node.slot !== null ? `slot ${node.slot} · ${node.state}` : node.state;
  return { ...node, look: looks[node.state], tag, parts, problems };
}

/** The page offers a search if there are more nodes than this. */
const manyNodes = 24;

export function isMany(status: Status | undefined): boolean {
  return status !== undefined && status.nodes.length > manyNodes;
}

/** Whether the node's name, site, host and state together contain every word in `wanted`. */
export function isFound(node: NodeStatus, wanted: string): boolean {
  const text = [node.node, node.site ?? '', node.host ?? '', node.state].join(' ').toLowerCase();
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
