/** A change, asked for, shown beforehand, and confirmed. Nothing is sent but previews before the last button. */
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  type Action,
  callOf,
  type Fields,
  formOf,
  noFields,
  type Preview,
  previewKey,
  previewOf,
} from './actions.js';
import type { Failed } from './api.js';
import { FormFields } from './form-fields.js';
import type { Status } from './shapes.js';
import type { Known, Store } from './store.js';
import { TokenForm } from './token-form.js';

interface DialogProps {
  readonly store: Store;
  readonly known: Known;
  readonly action: Action;
  readonly onClose: () => void;
}

/** What has been heard of the change as it is written down now. */
type Heard = { readonly state: 'asking' } | { readonly state: 'told'; readonly preview: Preview } | Refused;
interface Refused {
  readonly state: 'refused';
  readonly failed: Failed;
}

const typingMs = 250;
/** Who asks for changes: kept while the page is open. */
let lastBy = '';

export function ChangeDialog({ store, known, action, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { title, about } = formOf(action);
  const status = known.picture?.status;
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      <p class="muted">{about}</p>
      {status === undefined ? null : (
        <Change
          store={store}
          known={known}
          status={status}
          action={action}
          onClose={() => dialog.current?.close()}
        />
      )}
    </dialog>
  );
}

interface ChangeProps extends DialogProps {
  readonly status: Status;
}

function Change({ store, known, status, action, onClose }: ChangeProps) {
  const [fields, setFields] = useState<Fields>({ ...noFields, by: lastBy });
  const [hasToken, setHasToken] = useState(store.api.hasToken);
  const [sending, setSending] = useState(false);
  const [accepted, setAccepted] = useState(false);
  const call = callOf(action, fields);
  const { heard, hear } = usePreview(store, status, action, fields, hasToken);
  useEffect(() => setHasToken(store.api.hasToken), [heard, store]);
  lastBy = fields.by;
  if (!hasToken) {
    const use = (token: string) => {
      store.api.useToken(token);
      setHasToken(true);
    };
    return (
      <TokenForm failed={heard.state === 'refused' ? heard.failed : null} onToken={use} onCancel={onClose} />
    );
  }
  const danger = heard.state === 'told' && heard.preview.danger;
  const confirm = async () => {
    setSending(true);
    const answer = await store.api.change(call, danger && accepted);
    setSending(false);
    if (!answer.ok) return hear({ state: 'refused', failed: answer });
    store.didChange(answer.value.what, answer.value.term);
    onClose();
  };
  const ready = heard.state === 'told' && !heard.preview.idle && (!danger || accepted) && !sending;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) void confirm();
      }}
    >
      <FormFields action={action} fields={fields} status={status} onFields={setFields} />
      <PreviewBox heard={heard} />
      {known.link.state === 'live' ? null : <p class="card-worry">The picture behind this is old.</p>}
      {danger ? (
        <label class="accept">
          <input
            type="checkbox"
            checked={accepted}
            onChange={(event) => setAccepted(event.currentTarget.checked)}
          />
          Nobody would lead. Do it all the same.
        </label>
      ) : null}
      <div class="buttons">
        <button type="submit" class={danger ? 'danger' : 'primary'} disabled={!ready}>
          {sending ? 'Asking…' : formOf(action).verb}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** Asks anew whenever the change, or the group under it, is another. */
function usePreview(store: Store, status: Status, action: Action, fields: Fields, hasToken: boolean) {
  const [heard, hear] = useState<Heard>({ state: 'asking' });
  const call = callOf(action, fields);
  const question = JSON.stringify([call, previewKey(status)]);
  useEffect(() => {
    if (!hasToken) return undefined;
    hear({ state: 'asking' });
    let current = true;
    const timer = setTimeout(async () => {
      const answer = await store.api.preview(call);
      if (!current) return;
      hear(
        answer.ok
          ? { state: 'told', preview: previewOf(answer.value, status) }
          : { state: 'refused', failed: answer },
      );
    }, typingMs);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [question, hasToken]);
  return { heard, hear };
}

function PreviewBox({ heard }: { readonly heard: Heard }) {
  return (
    <div class="preview" aria-live="polite">
      <h3>What will happen</h3>
      <PreviewText heard={heard} />
    </div>
  );
}

function PreviewText({ heard }: { readonly heard: Heard }) {
  if (heard.state === 'asking') return <p class="muted">Asking the agent…</p>;
  if (heard.state === 'refused') {
    return (
      <div class="refused">
        <p>
          <strong>{heard.failed.message}</strong>
        </p>
        <ul>
          {heard.failed.reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      </div>
    );
  }
  const { what, idle, changes, follows, danger } = heard.preview;
  if (idle) return <p>Nothing to change: {what}</p>;
  return (
    <>
      <p>
        <strong>{what}</strong>
      </p>
      {follows === null ? null : <p class={danger ? 'refused' : 'follows'}>{follows}</p>}
      <details>
        <summary>What is written</summary>
        <ul class="changes">
          {changes.map((change) => (
            <li key={change}>{change}</li>
          ))}
        </ul>
      </details>
    </>
  );
}
