/** A problem in a group's tree. */
export interface Problem {
  readonly path: string;
  /** The node that it concerns, if known. */
  readonly node: string | null;
  /** One line. */
  readonly problem: string;
}
