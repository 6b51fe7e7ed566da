/**
 * Remembers who makes changes and why, so that the page asks only once. The name is kept for later visits.
 * The reason is kept only while the tab is open, because it would be wrong on another day. The token is never
 * kept.
 */
import type { Author } from './actions.js';

/** Storage that does not fail if the browser forbids storage. In that case, it remembers nothing. */
interface Kept {
  read(): string;
  write(text: string): void;
}

function kept(open: () => Storage, key: string): Kept {
  return {
    read() {
      try {
        return open().getItem(key) ?? '';
      } catch {
        return '';
      }
    },
    write(text) {
      try {
        open().setItem(key, text);
      } catch {
        // The browser forbids storage, or the storage is full.
      }
    },
  };
}

const name = kept(() => localStorage, 'petrel.by');
const reason = kept(() => sessionStorage, 'petrel.reason');

export function rememberedAuthor(): Author {
  return { by: name.read(), reason: reason.read() };
}

export function rememberAuthor(author: Author): void {
  name.write(author.by.trim());
  reason.write(author.reason.trim());
}
