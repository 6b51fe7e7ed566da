/** The change of leader under way. */
import { sinceCameMs, useNow } from './clock.js';
import type { Known } from './store.js';
import { countText, lengthText } from './times.js';
import { type Step, trackOf } from './track.js';

export function TrackSection({ known }: { readonly known: Known }) {
  const nowMs = useNow(500);
  const { picture, seen } = known;
  const track = picture === null ? null : trackOf(picture.status, seen);
  if (track === null) return null;
  return (
    <section class="panel track" aria-labelledby="track-title">
      <h2 id="track-title">Change of leader, term {track.term}</h2>
      <p>{track.reason}</p>
      <ol class="steps">
        {track.steps.map((step) => (
          <StepItem key={step.phase} step={step} sinceMs={sinceCameMs(known, nowMs)} />
        ))}
        <li class="step step-ahead">
          <span class="step-label">{track.to ?? 'Nobody'} is READY</span>
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
