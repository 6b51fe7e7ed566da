/** Matches what a guardian logs when its agent has died, in a whole log. */
export const agentDeath = /the agent (was killed by|exited with code)[^"\n]*: stopping its workload/g;
