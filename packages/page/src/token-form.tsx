/**
 * Asks for the token, or says that the agent has none. The page keeps the token in its memory, and removes it
 * from the input field immediately.
 */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Failed } from './api.js';
import { refusalText } from './token.js';

interface TokenFormProps {
  /** The response that rejected the last token. Null if there was none. */
  readonly failed: Failed | null;
  onToken(token: string): void;
  onCancel(): void;
}

export function TokenForm({ failed, onToken, onCancel }: TokenFormProps) {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const take = (event: Event) => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? '';
    if (field.current !== null) field.current.value = '';
    if (token !== '') onToken(token);
  };
  return (
    <form onSubmit={take}>
      {failed === null ? null : (
        <p class="refused" role="alert">
          {refusalText(failed)}
        </p>
      )}
      <label class="field">
        Token
        <input ref={field} type="password" autocomplete="off" spellcheck={false} />
        <span class="muted">
          The agent’s HTTP token. This page forgets the token when you close the page.
        </span>
      </label>
      <div class="buttons">
        <button type="submit" class="primary">
          Use this token
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** Shown instead of the token form if the agent has no token. */
export function NoChanges({ onClose }: { readonly onClose: () => void }) {
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <p class="refused" role="alert">
        This agent accepts no changes over HTTP, because it has no token. Set http.tokenFile or
        PETREL_HTTP_TOKEN and restart it, or use the petrel command.
      </p>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </form>
  );
}
