/**
 * Returns a function that calls `read` once and keeps the result. If the read fails, the next call reads
 * again.
 */
export function kept<T>(read: () => Promise<T>): () => Promise<T> {
  let held: Promise<T> | null = null;
  return () => {
    held ??= read().catch((error: unknown) => {
      held = null;
      throw error;
    });
    return held;
  };
}
