/** Petrel's library: leader election for a service, inside the service's own process. */
export type { AgentStatus } from './agent/agent.js';
export { PetrelError, type PetrelErrorCode } from './errors.js';
export type { LeaderFunction, LeaderFunctions, Leadership } from './library/function-workload.js';
export type { AclOptions, JoinOptions, ProbeOptions } from './library/join-options.js';
export { Petrel, type PetrelEvents } from './library/petrel.js';
export { StoreError, type StoreErrorCode } from './ports/store.js';
export type { ScoreSourceOptions } from './scores/source.js';
