/** Shows the changes of leader that are in progress. */
import { sinceCameMs, useNow } from './clock.js';
import { Prose } from './prose.js';
import type { Known } from './store.js';
import { countText, lengthText } from './times.js';
import { type Step, stepsOfSlots, type TransitionSteps } from './transition-steps.js';

export function TransitionSection({ known }: { readonly known: Known }) {
  const nowMs = useNow(500);
  const { picture, observed } = known;
  if (picture === null) return null;
  return (
    <>
      {stepsOfSlots(picture.status, observed).map((transition) => (
        <TransitionPanel key={transition.slot} transition={transition} sinceMs={sinceCameMs(known, nowMs)} />
      ))}
    </>
  );
}

interface TransitionPanelProps {
  readonly transition: TransitionSteps;
  readonly sinceMs: number;
}

function TransitionPanel({ transition, sinceMs }: TransitionPanelProps) {
  const { slot, term, reason, steps, to } = transition;
  const title = slot === null ? 'transition-title' : `transition-title-${slot}`;
  return (
    <section class="panel transition" aria-labelledby={title}>
      <h2 id={title}>
        Transition, {slot === null ? '' : `slot ${slot}, `}term {term}
      </h2>
      <p>
        <Prose text={reason} />
      </p>
      <ol class="steps">
        {steps.map((step) => (
          <StepItem key={step.phase} step={step} sinceMs={sinceMs} />
        ))}
        <li class="step step-ahead">
          <span class="step-label">{to ?? 'Nobody'} is READY</span>
        </li>
      </ol>
    </section>
  );
}

function StepItem({ step, sinceMs }: { readonly step: Step; readonly sinceMs: number }) {
  const { state, label, elapsedMs, limitMs } = step;
  const runs = state === 'now' && elapsedMs !== null && limitMs !== null;
  const nowMs = (elapsedMs ?? 0) + sinceMs;
  const late = runs && nowMs > limitMs;
  return (
    <li
      class={`step step-${state}${late ? ' step-late' : ''}`}
      aria-current={state === 'now' ? 'step' : undefined}
    >
      <span class="step-label">{label}</span>
      {runs ? (
        <>
          <span class="step-time">
            {countText(nowMs)} of {countText(limitMs)}
            {late ? ', late' : ''}
          </span>
          <progress value={Math.min(nowMs, limitMs)} max={limitMs} aria-label={label} />
        </>
      ) : (
        <span class="step-time">{state === 'done' ? doneText(elapsedMs) : ''}</span>
      )}
    </li>
  );
}

function doneText(elapsedMs: number | null): string {
  return elapsedMs === null ? 'done' : `done, ${lengthText(elapsedMs)}`;
}
