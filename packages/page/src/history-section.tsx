/** Shows the history: a strip of the leaders over time and, below it, the records, newest first. */
import { ensembleNowMs, useNow } from './clock.js';
import { Prose } from './prose.js';
import { historyOfSlot, isSeveral, slotsOf } from './slots.js';
import type { Known } from './store.js';
import {
  type Bar,
  type Hue,
  huesOf,
  type Row,
  rowsOf,
  type Span,
  type Strip,
  stripOf,
  type TransitionRow,
} from './timeline.js';
import { agoText, clockText, lengthText } from './times.js';

/** Number of rows that are always visible. Older rows are shown on request. */
const shownRows = 12;

export function HistorySection({ known }: { readonly known: Known }) {
  const pageNowMs = useNow(5_000);
  const { history, picture } = known;
  if (history === null || picture === null) return null;
  const nowMs = ensembleNowMs(known, pageNowMs);
  const rows = rowsOf(history);
  const strips = slotsOf(picture.status).flatMap(({ slot }) => {
    const strip = stripOf(historyOfSlot(history, slot), nowMs, picture.leaderless.get(slot) ?? null);
    return strip === null ? [] : [{ slot: isSeveral(picture.status) ? slot : null, strip }];
  });
  const hues = huesOf(strips.map(({ strip }) => strip));
  return (
    <section class="panel history" aria-labelledby="history-title">
      <h2 id="history-title">History</h2>
      {rows.length === 0 ? <p>The history is empty.</p> : null}
      {strips.map(({ slot, strip }) => (
        <StripChart key={slot} slot={slot} strip={strip} hues={hues} nowMs={nowMs} />
      ))}
      {rows.some(({ kind }) => kind === 'transition') ? <Legend /> : null}
      <Rows rows={rows.slice(0, shownRows)} nowMs={nowMs} />
      {rows.length <= shownRows ? null : (
        <details>
          <summary>{rows.length - shownRows} older</summary>
          <Rows rows={rows.slice(shownRows)} nowMs={nowMs} />
        </details>
      )}
      {history.problems.map(({ path, problem }) => (
        <p key={path} class="card-note">
          {path} {problem}
        </p>
      ))}
    </section>
  );
}

function Rows({ rows, nowMs }: { readonly rows: readonly Row[]; readonly nowMs: number }) {
  return (
    <ol class="rows">
      {rows.map((row) => (
        <RowItem key={row.key} row={row} nowMs={nowMs} />
      ))}
    </ol>
  );
}

/** Width of the drawing, in the drawing's own units. */
const wide = 1000;
/**
 * Minimum width of a gap. A short gap must remain visible even if a node leads for days before and after it.
 */
const leastGap = 3;

interface StripChartProps {
  /** Number of the slot. Null if the group has only one slot. */
  readonly slot: number | null;
  readonly strip: Strip;
  readonly hues: ReadonlyMap<string, Hue>;
  readonly nowMs: number;
}

function leadersIn({ spans }: Strip): string[] {
  return [...new Set(spans.flatMap(({ leader }) => (leader === null ? [] : [leader])))];
}

function StripChart({ slot, strip, hues, nowMs }: StripChartProps) {
  const led = strip.spans.filter(({ leader }) => leader !== null);
  const gaps = strip.spans.filter(({ leader }) => leader === null);
  const label = `${slot === null ? '' : `Slot ${slot}: `}Leaders since ${clockText(strip.from, nowMs)}: ${led.length} terms, ${gaps.length} gaps without a leader`;
  return (
    <figure class="strip">
      {slot === null ? null : <span class="slot-name">Slot {slot}</span>}
      <svg viewBox={`0 0 ${wide} 20`} preserveAspectRatio="none" role="img" aria-label={label}>
        <OtherNodes />
        {led.map((span) => (
          <SpanShape
            key={`${span.term} ${span.start}`}
            span={span}
            hue={hues.get(span.leader ?? '') ?? 'other'}
          />
        ))}
        {gaps.map((span) => (
          <SpanShape key={`gap ${span.start}`} span={span} hue={null} />
        ))}
      </svg>
      <figcaption>
        <span>{clockText(strip.from, nowMs)}</span>
        <span>now</span>
        <span class="keys">
          {leadersIn(strip).map((leader) => (
            <span key={leader} class={`key key-${hues.get(leader) ?? 'other'}`}>
              {leader}
            </span>
          ))}
          {gaps.length === 0 ? null : <span class="key key-gap">no leader</span>}
        </span>
      </figcaption>
    </figure>
  );
}

/** The hatching of leaders that have no colour of their own. */
function OtherNodes() {
  return (
    <pattern id="other-nodes" width="8" height="8" patternUnits="userSpaceOnUse">
      <path class="hatch" d="M0 8 8 0M-2 2 2-2M6 10 10 6" />
    </pattern>
  );
}

function SpanShape({ span, hue }: { readonly span: Span; readonly hue: Hue | null }) {
  const width = span.length * wide;
  const what = span.leader === null ? 'no leader' : `${span.leader} led in term ${span.term}`;
  return (
    <rect
      class={hue === null ? 'span-gap' : `span-${hue}`}
      x={span.start * wide}
      y={0}
      width={hue === null ? Math.max(leastGap, width) : width}
      height={20}
    >
      <title>{`${what}, for ${lengthText(span.lengthMs)}`}</title>
    </rect>
  );
}

function termText({ slot, term }: TransitionRow): string {
  return slot === null ? `term ${term}` : `slot ${slot}, term ${term}`;
}

function RowItem({ row, nowMs }: { readonly row: Row; readonly nowMs: number }) {
  return (
    <li class={`row row-${row.kind}${row.kind === 'transition' && row.failed ? ' row-failed' : ''}`}>
      <time dateTime={row.at} title={row.at}>
        {clockText(row.at, nowMs)} <span class="row-ago">{agoText(row.at, nowMs)}</span>
      </time>
      <span class="row-term">{row.kind === 'transition' ? termText(row) : 'change'}</span>
      <span class="row-what">
        <Prose text={row.headline} />
      </span>
      {row.kind === 'transition' ? <Phases row={row} /> : null}
      <span class="row-reason">
        <Prose text={row.reason} />
      </span>
      {row.kind === 'transition' && row.error.length > 0 ? (
        <details class="row-error">
          <summary>{row.error[0]}</summary>
          <pre>{row.error.slice(1).join('\n')}</pre>
        </details>
      ) : null}
    </li>
  );
}

function Phases({ row: { bars, leaderlessMs, leaderlessAtLeast } }: { readonly row: TransitionRow }) {
  const texts = [
    ...bars.map(({ phase, lengthMs }) => `${phase} ${lengthText(lengthMs)}`),
    ...(leaderlessMs === null
      ? []
      : [`no READY leader for ${leaderlessAtLeast ? 'at least ' : ''}${lengthText(leaderlessMs)}`]),
  ];
  return (
    <span class="row-phases">
      <svg viewBox={`0 0 ${wide} 10`} preserveAspectRatio="none" aria-hidden="true">
        {placed(bars).map(({ phase, x, width }) => (
          <rect key={phase} class={`bar-${phase}`} x={x} y={0} width={width} height={10} />
        ))}
      </svg>
      <span class="row-times">{texts.join(' · ')}</span>
    </span>
  );
}

function placed(bars: readonly Bar[]) {
  let x = 0;
  return bars.map(({ phase, share }) => {
    const width = Math.max(2, share * wide);
    const bar = { phase, x, width };
    x += width;
    return bar;
  });
}

function Legend() {
  return (
    <>
      <p class="legend" aria-hidden="true">
        Phases:
        <span class="key key-release">release</span>
        <span class="key key-claim">claim</span>
        <span class="key key-takeover">takeover</span>
      </p>
      <p class="legend">
        Phases are timed from the decision. The old leader leads until its release begins, so the phases can
        add up to more than the time without a leader.
      </p>
    </>
  );
}
