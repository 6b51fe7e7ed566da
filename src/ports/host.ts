/** The machine and the process that an agent lives in, as far as telling agents apart goes. */

/** An agent as its registration names it. */
export interface AgentName {
  readonly host: string;
  readonly pid: number;
  readonly incarnation: string;
}

export interface Host {
  readonly name: string;
  readonly pid: number;
  /** A name for one life of an agent, never given again. */
  newIncarnation(): string;
  /** An agent of that incarnation runs in this process, until the returned function is called. */
  agentLives(incarnation: string): () => void;
  /**
   * Whether another agent than the caller's bears that name and must be taken for alive. On another machine
   * it must; on this one its process can be asked for.
   */
  isOtherAgent(agent: AgentName): boolean;
}
