/** Shows sites as columns and nodes as cards. */
import { useState } from 'preact/hooks';
import type { Action, OnAction } from './actions.js';
import { nodeActions, siteActions } from './actions.js';
import { ensembleNowMs, useNow } from './clock.js';
import { type Fact, Facts } from './facts.js';
import { Prose } from './prose.js';
import type { SiteStatus } from './schemas.js';
import { columnsOf, isFound, isMany, type NodeCard, type SiteColumn } from './sites.js';
import type { Known } from './store.js';
import { whenText } from './times.js';

interface SitesProps {
  readonly known: Known;
  readonly onAction: OnAction;
}

export function SitesSection({ known, onAction }: SitesProps) {
  const [wanted, setWanted] = useState('');
  const { picture } = known;
  if (picture === null) return null;
  const columns = columnsOf(picture.status);
  const many = isMany(picture.status);
  return (
    <section id="sites" class="sites" aria-labelledby="sites-title" tabindex={-1}>
      <div class="section-head">
        <h2 id="sites-title">Sites and nodes</h2>
        {many ? (
          <label class="find">
            Find{' '}
            <input
              type="search"
              value={wanted}
              placeholder="name, host, state"
              onInput={(event) => setWanted(event.currentTarget.value)}
            />
          </label>
        ) : null}
      </div>
      {picture.status.nodes.length === 0 ? <p>No node is registered.</p> : null}
      <div class="columns">
        {columns.map((column) => (
          <Column
            key={column.name}
            known={known}
            column={column}
            wanted={many ? wanted : ''}
            onAction={onAction}
          />
        ))}
      </div>
    </section>
  );
}

interface ColumnProps extends SitesProps {
  readonly column: SiteColumn;
  readonly wanted: string;
}

function Column({ known, column, wanted, onAction }: ColumnProps) {
  const { name, settings, nodes, eligible } = column;
  const shown = wanted === '' ? nodes : nodes.filter((node) => isFound(node, wanted));
  return (
    <section class="panel column" aria-label={`Site ${name}`}>
      <div class="column-head">
        <h3>{settings === null ? name : `Site ${name}`}</h3>
        <span class="muted">{eligible}</span>
        {settings === null ? null : (
          <SiteFacts known={known} site={settings} hasNodes={nodes.length > 0} onAction={onAction} />
        )}
      </div>
      <ul class="cards">
        {shown.map((node) => (
          <Card key={node.node} node={node} onAction={onAction} />
        ))}
      </ul>
    </section>
  );
}

interface SiteFactsProps extends SitesProps {
  readonly site: SiteStatus;
  readonly hasNodes: boolean;
}

function SiteFacts({ known, site, hasNodes, onAction }: SiteFactsProps) {
  const { site: name, priority, drained, failed, override } = site;
  return (
    <>
      <p class={`priority${priority === 0 || drained !== null || failed !== null ? ' priority-none' : ''}`}>
        priority <strong>{priority}</strong>
        {drained === null ? null : <span class="tag tag-problem">drained</span>}
        {failed === null ? null : <span class="tag tag-problem">failed</span>}
      </p>
      {failed === null ? null : (
        <p class="override">
          marked failed by {failed.by}: {failed.reason}
        </p>
      )}
      {override === null ? null : <Override known={known} override={override} />}
      <div class="buttons">
        {siteActions(site, hasNodes).map((action) => (
          <button key={action.kind} type="button" class="small" onClick={() => onAction(action)}>
            {labels[action.kind]}…<span class="unseen"> site {name}</span>
          </button>
        ))}
      </div>
    </>
  );
}

interface OverrideProps {
  readonly known: Known;
  readonly override: NonNullable<SiteStatus['override']>;
}

function Override({ known, override }: OverrideProps) {
  const nowMs = ensembleNowMs(known, useNow(1000));
  const { until, by, reason } = override;
  const end = until === null ? 'until reset' : `ends ${whenText(until, nowMs)}`;
  return (
    <p class="override">
      priority override, {end}, by {by}: {reason}
    </p>
  );
}

function Card({ node, onAction }: { readonly node: NodeCard; readonly onAction: OnAction }) {
  const { tag, look, parts, reasons, problems, seat, score } = node;
  const notes = [...reasons, ...problems];
  const numbers = [
    ...(seat === null ? ['no seat'] : [`seat ${seat}`]),
    ...(score === null ? [] : [`score ${shortScore(score)}`]),
    ...parts,
  ];
  return (
    <li class={`card look-${look}`} data-node={node.node}>
      <details>
        <summary>
          <span class="card-name">{node.node}</span>
          <span class={`tag tag-${look}`}>{tag}</span>
          <span class="card-numbers">{numbers.join(' · ')}</span>
          {notes.length === 0 ? null : (
            <span class="card-note">
              <Prose text={notes.join('; ')} />
            </span>
          )}
        </summary>
        <CardDetails node={node} onAction={onAction} />
      </details>
    </li>
  );
}

function CardDetails({ node, onAction }: { readonly node: NodeCard; readonly onAction: OnAction }) {
  const facts: Fact[] = [
    ['host', node.host ?? 'unknown'],
    ['pid', node.pid === null ? 'unknown' : String(node.pid)],
    ['priority', node.priority === null ? 'unknown' : String(node.priority)],
    ...Object.entries(node.scores).map(([name, score]): Fact => [name, String(score)]),
  ];
  return (
    <div class="card-more">
      <Facts facts={facts} />
      <div class="buttons">
        {nodeActions(node).map((action) => (
          <button key={action.kind} type="button" class="small" onClick={() => onAction(action)}>
            {labels[action.kind]}…<span class="unseen"> node {node.node}</span>
          </button>
        ))}
      </div>
    </div>
  );
}

const labels: Readonly<Record<Action['kind'], string>> = {
  pause: 'Pause',
  resume: 'Resume',
  switchover: 'Switch over',
  'cancel-switchover': 'Cancel',
  priority: 'Priority',
  reset: 'Reset',
  'drain-site': 'Drain',
  'undrain-site': 'Undrain',
  'mark-healthy': 'Mark healthy',
  'forget-site': 'Forget',
  drain: 'Drain',
  undrain: 'Undrain',
  'clear-failure': 'Clear failures',
  'switchover-to': 'Switch over to this node',
};

/** Formats a score as `petrel list` does. A score that is not a whole number gets three decimal places. */
function shortScore(score: number): string {
  return Number.isInteger(score) ? String(score) : score.toFixed(3);
}
