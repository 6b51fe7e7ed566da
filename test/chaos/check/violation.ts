/** Something that must not happen, and happened. */
export interface Violation {
  readonly rule: string;
  readonly what: string;
  /** On CLOCK_MONOTONIC: where in the records to look. */
  readonly atMs: number;
}
