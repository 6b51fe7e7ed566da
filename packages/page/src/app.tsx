/** The page as a whole. */
import { useEffect, useState } from 'preact/hooks';
import type { Action } from './actions.js';
import { ChangeDialog } from './change-dialog.js';
import { Foot } from './foot.js';
import { Head } from './head.js';
import { HistorySection } from './history-section.js';
import { NextSection } from './next-section.js';
import { Notices } from './notices.js';
import { ProseClock } from './prose.js';
import { isMany } from './sites.js';
import { SitesSection } from './sites-section.js';
import type { Known, Store } from './store.js';
import { TransitionSection } from './transition-section.js';

export function App({ store }: { readonly store: Store }) {
  const known = useKnown(store);
  const [action, setAction] = useState<Action | null>(null);
  return (
    <ProseClock known={known}>
      <a class="skip" href="#sites">
        Skip to the nodes
      </a>
      <Head known={known} onAction={setAction} />
      <main class={known.link.state === 'live' ? '' : 'stale'}>
        <Notices known={known} store={store} onAction={setAction} />
        <TransitionSection known={known} />
        <div class={`split${isMany(known.picture?.status) ? ' many' : ''}`}>
          <SitesSection known={known} onAction={setAction} />
          <NextSection known={known} />
        </div>
        <HistorySection known={known} />
      </main>
      <Foot known={known} />
      {action === null ? null : (
        <ChangeDialog store={store} known={known} action={action} onClose={() => setAction(null)} />
      )}
    </ProseClock>
  );
}

function useKnown(store: Store): Known {
  const [known, setKnown] = useState(store.known);
  useEffect(() => store.onChange(() => setKnown(store.known)), [store]);
  return known;
}
