/**
 * What Petrel's own packages, of this same version, take of it. It promises nothing to anybody else: names come and go
 * with any release.
 */

export { duration, wholeNumber } from './cli/arguments.js';
export type { DescribedSituation, LabPackage } from './cli/lab-package.js';
export { type Printable, print, table } from './cli/output.js';
export { styled } from './cli/style.js';
export { readSettings } from './config/read-settings.js';
export { clientSettings, type OutputFormat, outputFormats } from './config/settings.js';
export { type ParsedYaml, parseYaml, yamlProblem } from './config/yaml.js';
export { durationMs } from './core/duration.js';
export { type ElectorAction, electorRound, newElector } from './core/electing.js';
export { defaultGroupConfig, type GroupConfig, groupConfigSchema } from './core/group-config.js';
export {
  type AnsweredRequest,
  type LeaseEvidence,
  leaseFrom,
  noEvidence,
  pingIntervalMs,
  renewalIntervalMs,
  requestAnswered,
  sessionOpened,
  writeCommitted,
} from './core/lease.js';
export { longSchema, nameSchema, strictObject, toInstant } from './core/names.js';
export { cut, depthProblem, firstOf } from './core/outside.js';
export { groupPaths } from './core/paths.js';
export { prepareStrategy } from './core/read-config.js';
export { requestsScore } from './core/scores.js';
export type { Claim, GroupSnapshot, Member, OwnSeat, SessionId, Versioned } from './core/snapshot.js';
export { type Tenure, type TenureAction, tenureStep } from './core/tenure.js';
export {
  type ClaimContent,
  type Elected,
  type HistoryHead,
  initialElected,
  initialHistoryHead,
  lastTerm,
  type Registration,
  registrationSchema,
} from './core/znodes.js';
export { errorMessage, PetrelError } from './errors.js';
export type { GroupView } from './group/view.js';
export { threadProgram } from './thread-program.js';
export { lossProblem, lostNodes, unknownName } from './what-if/losses.js';
export type { Outcome, Simulation } from './what-if/simulation.js';
export { type Assumed, loadOf, sizeOf } from './what-if/situation.js';
