/** The machine and the process of an agent. Contains only what is needed to distinguish agents. */

/** The values by which a registration identifies its agent. */
export interface AgentName {
  readonly host: string;
  readonly pid: number;
  readonly incarnation: string;
}

export interface Host {
  readonly name: string;
  readonly pid: number;
  /** Returns a name for one incarnation of an agent. The name is never reused. */
  newIncarnation(): string;
  /**
   * Records that an agent with the given incarnation is running in this process. The record remains until the
   * returned function is called.
   */
  markAgentAlive(incarnation: string): () => void;
  /**
   * Whether `agent` is another agent that must be assumed to be running. An agent on another machine must
   * always be assumed to be running. If the agent is on this machine, its process can be checked.
   */
  isOtherAgent(agent: AgentName): boolean;
}
