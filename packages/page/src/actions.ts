/**
 * The actions that the page offers. Each action has input fields, and makes one call that changes the group.
 */
import { type ChangeAnswer, type NodeStatus, type SiteStatus, type Status, visible } from './schemas.js';
import { isSeveral, slotsOf } from './slots.js';

export type Action =
  | { readonly kind: 'pause' | 'resume' | 'switchover' | 'cancel-switchover' }
  | {
      readonly kind: 'priority' | 'reset' | 'drain-site' | 'undrain-site' | 'mark-healthy' | 'forget-site';
      readonly site: string;
    }
  | { readonly kind: 'drain' | 'undrain' | 'clear-failure'; readonly node: string }
  | { readonly kind: 'switchover-to'; readonly node: string };

export interface Fields {
  /** The slot whose leader hands over. Empty if the group has only one slot. */
  readonly slot: string;
  /** Target of the switchover: `node:NAME` or `site:NAME`. Empty if the target is the best other node. */
  readonly to: string;
  readonly priority: string;
  /** Length of the override. Empty for an override that lasts until it is reset. */
  readonly length: string;
  readonly at: string;
  readonly reason: string;
  readonly by: string;
}
export type FieldName = keyof Fields;

export const noFields: Fields = { slot: '', to: '', priority: '0', length: '2h', at: '', reason: '', by: '' };

/** The name of the operator who makes changes, and the reason. */
export type Author = Pick<Fields, 'by' | 'reason'>;

/** Returns the initial content of the fields. */
export function firstFields(status: Status, author: Author): Fields {
  return { ...noFields, slot: isSeveral(status) ? '1' : '', ...author };
}

export interface Call {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Form {
  readonly title: string;
  /** Effect of the action, in one or two short sentences. */
  readonly about: string;
  /** Label of the action's button. */
  readonly verb: string;
  /** Input fields, in addition to the reason and the operator's name. */
  readonly fields: readonly FieldName[];
}

/** Returns the fields of an action. In a group with several leaders, a handover concerns one slot. */
export function fieldsOf(action: Action, status: Status): readonly FieldName[] {
  const { fields } = formOf(action);
  const isOfSlot = action.kind === 'switchover' || action.kind === 'switchover-to';
  return isOfSlot && isSeveral(status) ? ['slot', ...fields] : fields;
}

export function formOf(action: Action): Form {
  switch (action.kind) {
    case 'pause':
      return form('Pause the group', 'Stops automatic transitions until the group is resumed.', 'Pause');
    case 'resume':
      return form('Resume the group', 'Allows automatic transitions again.', 'Resume');
    case 'switchover':
      return form('Switch over', 'Hands leadership over gracefully.', 'Switch over', ['to', 'at']);
    case 'switchover-to':
      return form(`Switch over to ${action.node}`, 'Hands leadership over gracefully.', 'Switch over', [
        'at',
      ]);
    case 'cancel-switchover':
      return form('Cancel the switchover', 'Cancels the pending switchover.', 'Cancel the switchover');
    case 'priority':
      return form(
        `Priority of site ${action.site}`,
        'Overrides the site’s priority, for a limited time or until the site is reset. With priority 0, no node of the site leads.',
        'Set the priority',
        ['priority', 'length'],
      );
    case 'reset':
      return form(`Reset site ${action.site}`, 'Ends the override of the site’s priority.', 'Reset');
    case 'drain-site':
      return form(
        `Drain site ${action.site}`,
        'The site’s nodes are not elected until the site is undrained.',
        'Drain',
      );
    case 'undrain-site':
      return form(`Undrain site ${action.site}`, 'The site’s nodes can be elected again.', 'Undrain');
    case 'mark-healthy':
      return form(
        `Mark site ${action.site} healthy`,
        'The site’s nodes can be elected again.',
        'Mark healthy',
      );
    case 'forget-site':
      return form(
        `Forget site ${action.site}`,
        'Removes the site and its settings. It returns when a node of the site joins.',
        'Forget',
      );
    case 'drain':
      return form(
        `Drain node ${action.node}`,
        'If the node leads, it hands over. It cannot be elected until it is undrained.',
        'Drain',
      );
    case 'undrain':
      return form(`Undrain node ${action.node}`, 'The node can be elected again.', 'Undrain');
    case 'clear-failure':
      return form(
        `Clear the failures of node ${action.node}`,
        'Ends the node’s backoff, so that it can be elected again.',
        'Clear failures',
      );
  }
}

function form(title: string, about: string, verb: string, fields: readonly FieldName[] = []): Form {
  return { title, about, verb, fields };
}

/** Returns the call that makes the change, without `dryRun` and `yes`. */
export function callOf(action: Action, fields: Fields): Call {
  const common = { ...given('reason', fields.reason), ...given('by', fields.by) };
  const post = (path: string, more = {}): Call => ({ method: 'POST', path, body: { ...common, ...more } });
  switch (action.kind) {
    case 'pause':
    case 'resume':
      return post(`/${action.kind}`);
    case 'switchover':
      return post('/switchover', { ...inSlot(fields), ...targetOf(fields.to), ...given('at', fields.at) });
    case 'switchover-to':
      return post('/switchover', { ...inSlot(fields), to: action.node, ...given('at', fields.at) });
    case 'cancel-switchover':
      return post('/switchover', { cancel: true });
    case 'priority': {
      const body = { ...common, priority: numberOf(fields.priority), ...given('for', fields.length) };
      return { method: 'PUT', path: sitePath(action.site, 'priority'), body };
    }
    case 'reset':
      return { method: 'DELETE', path: sitePath(action.site, 'priority'), body: common };
    case 'drain-site':
      return post(sitePath(action.site, 'drain'));
    case 'undrain-site':
      return post(sitePath(action.site, 'undrain'));
    case 'mark-healthy':
      return post(sitePath(action.site, 'mark-healthy'));
    case 'forget-site':
      return { method: 'DELETE', path: `/sites/${encodeURIComponent(action.site)}`, body: common };
    case 'drain':
    case 'undrain':
    case 'clear-failure':
      return post(`/nodes/${encodeURIComponent(action.node)}/${action.kind}`);
  }
}

function inSlot({ slot }: Fields): Record<string, number> {
  return slot === '' ? {} : { slot: Number(slot) };
}

function sitePath(site: string, what: string): string {
  return `/sites/${encodeURIComponent(site)}/${what}`;
}

function given(name: string, text: string): Record<string, string> {
  return text.trim() === '' ? {} : { [name]: text.trim() };
}

/**
 * Converts digits to a number. Returns any other text unchanged. In that case, the agent reports which values
 * are allowed.
 */
function numberOf(text: string): number | string {
  return /^\d+$/.test(text.trim()) ? Number(text) : text;
}

function targetOf(to: string): Record<string, string> {
  if (to.startsWith('node:')) return { to: to.slice('node:'.length) };
  return to.startsWith('site:') ? { toSite: to.slice('site:'.length) } : {};
}

export interface Preview {
  readonly what: string;
  /** True if the change would have no effect. In that case, there is nothing to confirm. */
  readonly idle: boolean;
  /** Changed keys of the configuration, in the form "sites.a.override: - → …". */
  readonly changes: readonly string[];
  /** The node that would be elected after the change, and why. Null if that is unknown. */
  readonly follows: string | null;
  /** Whether the slot has a leader now, but no node would be elected after the change. */
  readonly danger: boolean;
}

export function previewOf(answer: ChangeAnswer, status: Status): Preview {
  const { what, changes, follows, slot } = answer;
  const leader = slotsOf(status).find((own) => own.slot === slot)?.leader;
  const inWhich = isSeveral(status) ? `Slot ${slot}: ` : '';
  return {
    what,
    idle: changes.length === 0,
    changes: changes.map(({ key, from, to }) => `${key}: ${valueText(from)} → ${valueText(to)}`),
    follows: follows === null ? null : `${inWhich}${followsText(follows)}`,
    danger: leader?.status === 'READY' && follows !== null && follows.node === null,
  };
}

function followsText({ node, changes, reason }: NonNullable<ChangeAnswer['follows']>): string {
  if (changes) return `${node ?? 'No node'} will be elected: ${reason}`;
  return `${node === null ? 'Still no node is elected' : `${node} remains elected`}: ${reason}`;
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return visible(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Returns the actions that are possible for a site in its current state. */
export function siteActions({ site, override, failed, drained }: SiteStatus, hasNodes: boolean): Action[] {
  return [
    { kind: 'priority', site },
    ...(override === null ? [] : [{ kind: 'reset', site } as const]),
    ...(failed === null ? [] : [{ kind: 'mark-healthy', site } as const]),
    { kind: drained === null ? 'drain-site' : 'undrain-site', site },
    ...(hasNodes ? [] : [{ kind: 'forget-site', site } as const]),
  ];
}

/** Returns the actions that are possible for a node in its current state. */
export function nodeActions({ node, state, eligible }: NodeStatus): Action[] {
  const switchover: Action[] = eligible && state === 'STANDBY' ? [{ kind: 'switchover-to', node }] : [];
  const clearFailure: Action[] = state === 'BACKOFF' ? [{ kind: 'clear-failure', node }] : [];
  return [...switchover, ...clearFailure, { kind: state === 'DRAINING' ? 'undrain' : 'drain', node }];
}

/**
 * Returns a key for all data that can affect a preview. When the key changes, the page requests the preview
 * again.
 */
export function previewKey({ leaders, paused, switchover, sites, nodes }: Status): string {
  const eligible = nodes.map(({ node, state, eligible }) => [node, state, eligible]);
  const slots = leaders.map(({ elected, leader, transition }) => [elected.term, leader, transition?.phase]);
  return JSON.stringify([slots, paused, switchover, sites, eligible]);
}

/** Opens the dialog for an action. */
export type OnAction = (action: Action) => void;
