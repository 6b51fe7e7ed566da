/** The band at the top of the page. It shows which node leads, and how reliable that information is. */
import { useEffect } from 'preact/hooks';
import type { OnAction } from './actions.js';
import { ensembleNowMs, sinceCameMs, useNow } from './clock.js';
import { type Fact, Facts } from './facts.js';
import { linkText } from './link.js';
import { Prose } from './prose.js';
import type { Status } from './schemas.js';
import { isSeveral, slotsOf } from './slots.js';
import type { Known } from './store.js';
import { countText, whenText } from './times.js';
import { type Verdict, verdictOf, verdictOfSlot } from './verdict.js';

interface HeadProps {
  readonly known: Known;
  readonly onAction: OnAction;
}

export function Head({ known, onAction }: HeadProps) {
  const nowMs = useNow(500);
  const { picture, link } = known;
  const verdict = picture === null ? null : verdictOf(picture.status, sinceCameMs(known, nowMs));
  const title = titleOf(known, verdict);
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <header class={`head tone-${link.state === 'live' ? (verdict?.tone ?? 'unknown') : 'unknown'}`}>
      <div class="top">
        <span class="brand">Petrel</span>
        <span class="root">{picture?.status.root ?? ''}</span>
        <LinkBadge known={known} nowMs={nowMs} />
      </div>
      {picture === null || verdict === null ? (
        <h1>Loading the group…</h1>
      ) : (
        <Leading known={known} status={picture.status} verdict={verdict} nowMs={nowMs} onAction={onAction} />
      )}
      <p class="unseen" role="status">
        {link.state === 'live' ? `${verdict?.headline ?? ''}` : linkText(link, link.heldAtMs).label}
      </p>
    </header>
  );
}

function titleOf({ picture, link }: Known, verdict: Verdict | null): string {
  if (picture === null || verdict === null) return 'Petrel';
  const mark = link.state === 'live' ? '' : 'Last seen: ';
  return `${mark}${verdict.headline} · ${picture.status.root}`;
}

function LinkBadge({ known: { link }, nowMs }: { readonly known: Known; readonly nowMs: number }) {
  const { label, detail } = linkText(link, nowMs);
  return (
    <span class="link" data-link={link.state === 'live' && label !== 'live' ? 'quiet' : link.state}>
      <span class="link-label">{label}</span>
      {detail === '' ? null : <span class="link-detail">{detail}</span>}
    </span>
  );
}

interface LeadingProps extends HeadProps {
  readonly status: Status;
  readonly verdict: Verdict;
  readonly nowMs: number;
}

function Leading({ known, status, verdict, nowMs, onAction }: LeadingProps) {
  const { clock, headline, detail, leaderless } = verdict;
  return (
    <div class="leading">
      <div class="verdict">
        <h1>
          {known.link.state === 'live' ? headline : `Last seen: ${headline}`}
          {clock === null ? null : (
            <span class="clock">
              {' '}
              ({countText(clock.elapsedMs)} of {countText(clock.limitMs)})
            </span>
          )}
        </h1>
        {leaderless ? <strong class="no-leader">{noLeaderText(known, nowMs)}</strong> : null}
        {detail === '' ? null : (
          <p class="detail">
            <Prose text={detail} />
          </p>
        )}
        {isSeveral(status) ? <SlotList known={known} status={status} nowMs={nowMs} /> : null}
        <Facts facts={groupFacts(status, ensembleNowMs(known, nowMs))} />
      </div>
      <Actions status={status} onAction={onAction} />
    </div>
  );
}

function noLeaderText(known: Known, nowMs: number): string {
  const { picture } = known;
  const several = picture !== null && isSeveral(picture.status);
  const texts = [...(picture?.leaderless ?? [])].map(([slot, { sinceMs, exact }]) => {
    const forText = countText(ensembleNowMs(known, nowMs) - sinceMs);
    return `${several ? `slot ${slot}: ` : ''}no leader for ${exact ? '' : 'at least '}${forText}`;
  });
  return texts.length === 0 ? 'no leader' : texts.join(', ');
}

interface SlotListProps {
  readonly known: Known;
  readonly status: Status;
  readonly nowMs: number;
}

/** Shows the leader of each slot. */
function SlotList({ known, status, nowMs }: SlotListProps) {
  return (
    <ul class="slots">
      {slotsOf(status).map((own) => (
        <li key={own.slot}>
          <span class="slot-name">Slot {own.slot}</span>{' '}
          <strong>{verdictOfSlot(own, sinceCameMs(known, nowMs)).headline}</strong>
          <Facts facts={slotFacts(own, ensembleNowMs(known, nowMs))} />
        </li>
      ))}
    </ul>
  );
}

function groupFacts(status: Status, nowMs: number): Fact[] {
  const { elector, strategy } = status;
  return [
    ...(isSeveral(status) ? [] : slotFacts(status, nowMs)),
    ['elector', elector ?? 'none'],
    ['strategy', strategy],
  ];
}

function slotFacts({ leader, elected }: Status, nowMs: number): Fact[] {
  return [['term', String(elected.term)], ...(leader === null ? [] : leaderFacts(leader, nowMs))];
}

function leaderFacts(leader: NonNullable<Status['leader']>, nowMs: number): Fact[] {
  const { status, since, site, fencingToken } = leader;
  const held: Fact = [status === 'READY' ? 'ready' : 'claimed', whenText(since, nowMs)];
  return [held, ['site', site ?? 'unknown'], ['fencing token', fencingToken]];
}

function Actions({ status, onAction }: { readonly status: Status; readonly onAction: OnAction }) {
  const pause = status.paused === null ? 'pause' : 'resume';
  return (
    <div class="actions">
      <button type="button" onClick={() => onAction({ kind: 'switchover' })}>
        Switch over…
      </button>
      <button type="button" onClick={() => onAction({ kind: pause })}>
        {pause === 'pause' ? 'Pause…' : 'Resume…'}
      </button>
    </div>
  );
}
