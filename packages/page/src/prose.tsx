/** Sentences from the agent. Instants in them are shown in the reader's own time zone. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { ensembleNowMs, useNow } from './clock.js';
import type { Known } from './store.js';
import { localTimes } from './times.js';

const Now = createContext(0);

interface ProseClockProps {
  readonly known: Known;
  readonly children: ComponentChildren;
}

/** Supplies the ensemble's clock to every sentence inside it. */
export function ProseClock({ known, children }: ProseClockProps) {
  return <Now.Provider value={ensembleNowMs(known, useNow(5_000))}>{children}</Now.Provider>;
}

export function Prose({ text }: { readonly text: string }) {
  return <>{localTimes(text, useContext(Now))}</>;
}
