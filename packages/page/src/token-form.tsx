/**
 * Asks for the token. The token is stored in the page's memory, and removed from the input field immediately.
 */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Failed } from './api.js';

interface TokenFormProps {
  /** The response that refused the last token. Null if there was none. */
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
          The agent rejected the token: {failed.message}
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
