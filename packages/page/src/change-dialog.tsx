/**
 * The dialog for a change: its input fields, the preview and the confirmation. Until the operator confirms
 * the change, the dialog requests only previews.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  type Action,
  callOf,
  type Fields,
  firstFields,
  formOf,
  type Preview,
  previewKey,
  previewOf,
} from './actions.js';
import type { Answer, Failed } from './api.js';
import { FormFields } from './form-fields.js';
import { Prose } from './prose.js';
import { rememberAuthor, rememberedAuthor } from './remembered.js';
import type { ChangeAnswer, Status } from './schemas.js';
import type { Known, Store } from './store.js';
import { NoChanges, TokenForm } from './token-form.js';

interface DialogProps {
  readonly store: Store;
  readonly known: Known;
  readonly action: Action;
  readonly onClose: () => void;
}

/** State of the preview for the change that the operator is entering. */
type PreviewState =
  | { readonly state: 'waiting' }
  | { readonly state: 'ready'; readonly preview: Preview }
  | Refused;
interface Refused {
  readonly state: 'refused';
  readonly failed: Failed;
}

const typingMs = 300;

export function ChangeDialog({ store, known, action, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
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

function Change(props: ChangeProps) {
  const { store, known, status, action, onClose } = props;
  const [fields, setFields] = useState<Fields>(() => firstFields(status, rememberedAuthor()));
  const [hasToken, setHasToken] = useState(store.api.hasToken);
  const shown = usePreview(store, status, action, fields, hasToken);
  const { preview, setPreview } = shown;
  useEffect(() => setHasToken(store.api.hasToken), [preview, store]);
  if (known.agent?.changes === false) return <NoChanges onClose={onClose} />;
  if (hasToken) return <ChangeForm {...props} fields={fields} shown={shown} onFields={setFields} />;
  const use = (token: string) => {
    store.api.useToken(token);
    setPreview({ state: 'waiting' });
    setHasToken(true);
  };
  return (
    <TokenForm
      failed={preview.state === 'refused' ? preview.failed : null}
      onToken={use}
      onCancel={onClose}
    />
  );
}

interface ChangeFormProps extends ChangeProps {
  readonly fields: Fields;
  readonly shown: ReturnType<typeof usePreview>;
  readonly onFields: (fields: Fields) => void;
}

function ChangeForm({ store, known, status, action, onClose, fields, shown, onFields }: ChangeFormProps) {
  const { preview, setPreview, subject, didWrite } = shown;
  const [sending, setSending] = useState(false);
  const [accepted, setAccepted] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => setAccepted(false), [subject]);
  // The form may appear in place of the token form, so it must focus its first field itself.
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('input, select')?.focus(), []);
  const effect = preview.state === 'ready' ? preview.preview : null;
  const danger = effect?.danger === true;
  const ready = effect !== null && !effect.idle && (!danger || accepted) && !sending;
  const confirm = async (event: Event) => {
    event.preventDefault();
    if (!ready) return;
    setSending(true);
    const answer = await store.api.change(callOf(action, fields), danger);
    setSending(false);
    if (!answer.ok) return setPreview({ state: 'refused', failed: answer });
    rememberAuthor(fields);
    store.didChange(answer.value);
    onClose();
  };
  return (
    <form ref={form} onChange={didWrite} onSubmit={confirm}>
      <FormFields action={action} fields={fields} status={status} onFields={onFields} />
      <PreviewBox preview={preview} />
      {known.link.state === 'live' ? null : <p class="refused">This information is out of date.</p>}
      {danger ? <Acceptance accepted={accepted} onAccepted={setAccepted} /> : null}
      <div class="buttons">
        <button type="submit" class={danger ? 'danger' : 'primary'} disabled={!ready}>
          {sending ? 'Sending…' : formOf(action).verb}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}

interface AcceptanceProps {
  readonly accepted: boolean;
  readonly onAccepted: (accepted: boolean) => void;
}

function Acceptance({ accepted, onAccepted }: AcceptanceProps) {
  return (
    <label class="accept">
      <input
        type="checkbox"
        checked={accepted}
        onChange={(event) => onAccepted(event.currentTarget.checked)}
      />
      The group would have no leader. Proceed anyway.
    </label>
  );
}

/**
 * Requests a new preview when the change or the group has changed, or when the operator has entered the
 * reason or a name. The reason and the name do not affect the result, so the last preview stays visible in
 * the meantime.
 */
function usePreview(store: Store, status: Status, action: Action, fields: Fields, hasToken: boolean) {
  const [preview, setPreview] = useState<PreviewState>({ state: 'waiting' });
  const [written, setWritten] = useState(0);
  const requested = useRef('');
  const call = callOf(action, fields);
  const subject = JSON.stringify([callOf(action, { ...fields, reason: '', by: '' }), previewKey(status)]);
  useEffect(() => {
    if (!hasToken) return undefined;
    if (requested.current !== subject) setPreview({ state: 'waiting' });
    requested.current = subject;
    let current = true;
    const timer = setTimeout(async () => {
      const answer = await store.api.preview(call);
      if (current) setPreview(stateOf(answer, status));
    }, typingMs);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [subject, hasToken, written]);
  return { preview, setPreview, subject, didWrite: () => setWritten((count) => count + 1) };
}

function stateOf(answer: Answer<ChangeAnswer>, status: Status): PreviewState {
  if (!answer.ok) return { state: 'refused', failed: answer };
  return { state: 'ready', preview: previewOf(answer.value, status) };
}

function PreviewBox({ preview }: { readonly preview: PreviewState }) {
  return (
    <div class="preview" aria-live="polite">
      <h3>What will happen</h3>
      <PreviewText preview={preview} />
    </div>
  );
}

function PreviewText({ preview }: { readonly preview: PreviewState }) {
  if (preview.state === 'waiting') return <p class="muted">Waiting for the agent…</p>;
  if (preview.state === 'refused') {
    return (
      <div class="refused">
        <p>
          <strong>
            <Prose text={preview.failed.message} />
          </strong>
        </p>
        <ul>
          {preview.failed.reasons.map((reason) => (
            <li key={reason}>
              <Prose text={reason} />
            </li>
          ))}
        </ul>
      </div>
    );
  }
  const { what, idle, changes, follows, danger } = preview.preview;
  if (idle) {
    return (
      <p>
        Nothing to change: <Prose text={what} />
      </p>
    );
  }
  return (
    <>
      <p>
        <strong>
          <Prose text={what} />
        </strong>
      </p>
      {follows === null ? null : (
        <p class={danger ? 'refused' : 'follows'}>
          <Prose text={follows} />
        </p>
      )}
      <details>
        <summary>Changes to the configuration</summary>
        <ul class="changes">
          {changes.map((change) => (
            <li key={change}>{change}</li>
          ))}
        </ul>
      </details>
    </>
  );
}
