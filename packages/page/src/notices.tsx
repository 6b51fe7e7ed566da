/** Notices that an operator must read before acting: pauses, pending changes, and problems in the tree. */
import type { ComponentChildren } from 'preact';
import type { OnAction } from './actions.js';
import { ensembleNowMs, useNow } from './clock.js';
import { Prose } from './prose.js';
import type { Status, WaitingSwitchover } from './schemas.js';
import { isSeveral, slotsOf } from './slots.js';
import type { Done, Known, Store } from './store.js';
import { whenText } from './times.js';

interface NoticesProps {
  readonly known: Known;
  readonly store: Store;
  readonly onAction: OnAction;
}

export function Notices({ known, store, onAction }: NoticesProps) {
  const nowMs = ensembleNowMs(known, useNow(1000));
  const { picture, done, outdated } = known;
  return (
    <div class="notices">
      {outdated ? <OutdatedNotice /> : null}
      <div role="status">
        {done === null ? null : <DoneNotice done={done} onDismiss={() => store.dismiss()} />}
      </div>
      {picture === null ? null : <StatusNotices status={picture.status} nowMs={nowMs} onAction={onAction} />}
    </div>
  );
}

function OutdatedNotice() {
  return (
    <Notice kind="warn" title="This page is from an older version than the agent">
      <button type="button" onClick={() => location.reload()}>
        Reload
      </button>
    </Notice>
  );
}

function DoneNotice({ done, onDismiss }: { readonly done: Done; readonly onDismiss: () => void }) {
  const { what, slot, term, outcome } = done;
  const which = slot === null ? `Term ${term}` : `Slot ${slot}, term ${term}`;
  return (
    <Notice kind="done" title={<Prose text={`Done: ${what}`} />}>
      {term === null ? null : (
        <span>{outcome === null ? `${which}: waiting for the outcome.` : `${which}: ${outcome}.`}</span>
      )}
      <button type="button" onClick={onDismiss}>
        Dismiss
      </button>
    </Notice>
  );
}

interface StatusNoticesProps {
  readonly status: Status;
  readonly nowMs: number;
  readonly onAction: OnAction;
}

function StatusNotices({ status, nowMs, onAction }: StatusNoticesProps) {
  const { paused, switchover, problems } = status;
  return (
    <>
      {paused === null ? null : (
        <Notice kind="warn" title="Paused">
          <span>
            by {paused.by}, {whenText(paused.at, nowMs)}: {paused.reason}
          </span>
          <button type="button" onClick={() => onAction({ kind: 'resume' })}>
            Resume…
          </button>
        </Notice>
      )}
      {switchover === null ? null : (
        <Notice kind="warn" title="Pending switchover">
          <span>
            <Prose text={waitingText(switchover, isSeveral(status))} />
          </span>
          <button type="button" onClick={() => onAction({ kind: 'cancel-switchover' })}>
            Cancel it…
          </button>
        </Notice>
      )}
      {slotsOf(status).map(({ slot, preferred }) =>
        preferred === null ? null : (
          <Notice
            key={slot}
            kind="info"
            title={`Preferred leader available${isSeveral(status) ? ` for slot ${slot}` : ''}: ${preferred.node}`}
          >
            <span>
              <Prose text={preferred.reason} />
            </span>
          </Notice>
        ),
      )}
      {problems.map(({ path, problem }) => (
        <Notice key={`${path} ${problem}`} kind="bad" title={path}>
          <span>{problem}</span>
        </Notice>
      ))}
    </>
  );
}

function waitingText(
  { to, notBefore, force, by, reason, slot = 1 }: WaitingSwitchover,
  several: boolean,
): string {
  const who = to === 'best-other' ? 'the best other node' : 'node' in to ? to.node : `site ${to.site}`;
  const when = notBefore === null ? '' : `, not before ${notBefore}`;
  const which = several ? ` of slot ${slot}` : '';
  return `${force ? 'failover' : 'switchover'}${which} to ${who}${when}, by ${by}: ${reason}`;
}

interface NoticeProps {
  readonly kind: 'info' | 'done' | 'warn' | 'bad';
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
}

function Notice({ kind, title, children }: NoticeProps) {
  return (
    <div class={`notice notice-${kind}`}>
      <strong>{title}</strong>
      {children}
    </div>
  );
}
