/**
 * The dialog of a change, from the request to the preview and the confirmation. The dialog sends only
 * previews until the operator presses the last button.
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
import type { ChangeAnswer, Status } from './schemas.js';
import type { Known, Store } from './store.js';
import { TokenForm } from './token-form.js';

interface DialogProps {
  readonly store: Store;
  readonly known: Known;
  readonly action: Action;
  readonly onClose: () => void;
}

/** The agent's response to the change as it is currently entered. */
type Heard = { readonly state: 'asking' } | { readonly state: 'told'; readonly preview: Preview } | Refused;
interface Refused {
  readonly state: 'refused';
  readonly failed: Failed;
}

const typingMs = 300;
/** The operator's name, kept while the page is open. */
let lastBy = '';

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
  const { store, status, action, onClose } = props;
  const [fields, setFields] = useState<Fields>(() => firstFields(status, lastBy));
  const [hasToken, setHasToken] = useState(store.api.hasToken);
  const asked = usePreview(store, status, action, fields, hasToken);
  const { heard, hear } = asked;
  useEffect(() => setHasToken(store.api.hasToken), [heard, store]);
  lastBy = fields.by;
  if (hasToken) return <ChangeForm {...props} fields={fields} asked={asked} onFields={setFields} />;
  const use = (token: string) => {
    store.api.useToken(token);
    hear({ state: 'asking' });
    setHasToken(true);
  };
  return (
    <TokenForm failed={heard.state === 'refused' ? heard.failed : null} onToken={use} onCancel={onClose} />
  );
}

interface ChangeFormProps extends ChangeProps {
  readonly fields: Fields;
  readonly asked: ReturnType<typeof usePreview>;
  readonly onFields: (fields: Fields) => void;
}

function ChangeForm({ store, known, status, action, onClose, fields, asked, onFields }: ChangeFormProps) {
  const { heard, hear, question, didWrite } = asked;
  const [sending, setSending] = useState(false);
  const [accepted, setAccepted] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => setAccepted(false), [question]);
  // The form may appear in place of the token form, so it must focus its first field itself.
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('input, select')?.focus(), []);
  const preview = heard.state === 'told' ? heard.preview : null;
  const danger = preview?.danger === true;
  const ready = preview !== null && !preview.idle && (!danger || accepted) && !sending;
  const confirm = async (event: Event) => {
    event.preventDefault();
    if (!ready) return;
    setSending(true);
    const answer = await store.api.change(callOf(action, fields), danger);
    setSending(false);
    if (!answer.ok) return hear({ state: 'refused', failed: answer });
    store.didChange(answer.value);
    onClose();
  };
  return (
    <form ref={form} onChange={didWrite} onSubmit={confirm}>
      <FormFields action={action} fields={fields} status={status} onFields={onFields} />
      <PreviewBox heard={heard} />
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
 * Requests a preview again when the change or the group has changed. The reason and the operator's name do
 * not affect the result. The preview is requested again after they are entered, and the last response remains
 * valid in the meantime.
 */
function usePreview(store: Store, status: Status, action: Action, fields: Fields, hasToken: boolean) {
  const [heard, hear] = useState<Heard>({ state: 'asking' });
  const [written, setWritten] = useState(0);
  const asked = useRef('');
  const call = callOf(action, fields);
  const question = JSON.stringify([callOf(action, { ...fields, reason: '', by: '' }), previewKey(status)]);
  useEffect(() => {
    if (!hasToken) return undefined;
    if (asked.current !== question) hear({ state: 'asking' });
    asked.current = question;
    let current = true;
    const timer = setTimeout(async () => {
      const answer = await store.api.preview(call);
      if (current) hear(heardOf(answer, status));
    }, typingMs);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [question, hasToken, written]);
  return { heard, hear, question, didWrite: () => setWritten((count) => count + 1) };
}

function heardOf(answer: Answer<ChangeAnswer>, status: Status): Heard {
  if (!answer.ok) return { state: 'refused', failed: answer };
  return { state: 'told', preview: previewOf(answer.value, status) };
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
  if (heard.state === 'asking') return <p class="muted">Waiting for the agent…</p>;
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
