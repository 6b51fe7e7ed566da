/** A problem in a group's tree. */
export interface Problem {
  readonly path: string;
  /** The node that the problem concerns. Null if it is not known. */
  readonly node: string | null;
  /** Description of the problem, in one line. */
  readonly problem: string;
}
