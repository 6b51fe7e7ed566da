/**
 * Freezes a value deeply, so that its receiver cannot change it, and returns the value. Maps are not frozen.
 */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}
