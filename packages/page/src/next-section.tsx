/** Shows which node would lead next, and why other nodes are ineligible. */
import { type Next, nextOf } from './next.js';
import { Prose } from './prose.js';
import type { Known } from './store.js';

/** Number of nodes that are shown initially. The others are shown on request. */
const shownRanks = 5;

export function NextSection({ known }: { readonly known: Known }) {
  const published = known.picture?.status ?? null;
  const [next, ...others] = known.explanations.map((explanation) => nextOf(explanation, published));
  if (next === undefined) return null;
  return (
    <section class="panel next" aria-labelledby="next-title">
      <h2 id="next-title">Next</h2>
      {others.length === 0 ? (
        <>
          <p>
            <strong>{next.headline}</strong>: <Prose text={next.reason} />
          </p>
          <Ranking next={next} />
          <Ineligible next={next} />
        </>
      ) : (
        [next, ...others].map((each) => <NextInSlot key={each.slot} next={each} />)
      )}
    </section>
  );
}

/** Shows one slot, with its nodes collapsed, because nearly the same nodes are eligible in all slots. */
function NextInSlot({ next }: { readonly next: Next }) {
  return (
    <details class="next-slot">
      <summary>
        <span class="slot-name">Slot {next.slot}</span> <strong>{next.headline}</strong>
        <p class="muted">
          <Prose text={next.reason} />
        </p>
      </summary>
      <Ranking next={next} />
      <Ineligible next={next} />
    </details>
  );
}

function Ranking({ next: { ranking } }: { readonly next: Next }) {
  if (ranking.length === 0) return <p>No node is eligible.</p>;
  const [first, more] = [ranking.slice(0, shownRanks), ranking.slice(shownRanks)];
  return (
    <>
      <Ranks ranks={first} />
      {more.length === 0 ? null : (
        <details>
          <summary>{more.length} more</summary>
          <Ranks ranks={more} />
        </details>
      )}
    </>
  );
}

function Ranks({ ranks }: { readonly ranks: Next['ranking'] }) {
  return (
    <ol class="ranks" start={ranks[0]?.rank ?? 1}>
      {ranks.map(({ node, site, reason }) => (
        <li key={node}>
          <strong>{node}</strong> <span class="muted">site {site}</span> <Prose text={reason} />
        </li>
      ))}
    </ol>
  );
}

function Ineligible({ next: { ineligible } }: { readonly next: Next }) {
  if (ineligible.length === 0) return null;
  return (
    <details open={ineligible.length <= shownRanks}>
      <summary>{ineligible.length} ineligible</summary>
      <ul class="ineligible">
        {ineligible.map(({ node, site, reasons }) => (
          <li key={node}>
            <strong>{node}</strong> <span class="muted">site {site}</span> <Prose text={reasons.join('; ')} />
          </li>
        ))}
      </ul>
    </details>
  );
}
