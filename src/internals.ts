/**
 * Exports for Petrel's own packages of the same version. They are not a public API: any release may add or
 * remove names.
 */

export { builtInRules } from '../strategies/index.js';
export { Agent } from './agent/agent.js';
export type { SessionTicket } from './agent/session/session-memory.js';
export { duration, wholeNumber } from './cli/arguments.js';
export type { DescribedSituation, LabPackage } from './cli/lab-package.js';
export { type Layout, table } from './cli/layout.js';
export { type Printable, print } from './cli/output.js';
export { styled } from './cli/style.js';
export { readSettings } from './config/read-settings.js';
export { clientSettings, type OutputFormat, outputFormats } from './config/settings.js';
export { type ParsedYaml, parseYaml, yamlProblem } from './config/yaml.js';
export { Database } from './embedded/database.js';
export { JuteReader, JuteWriter } from './embedded/jute.js';
export {
  noSession,
  opcodeName,
  readConnectRequest,
  writeConnectResponse,
  writeNotification,
  writeReplyHeader,
  xids,
} from './embedded/records.js';
export { answer } from './embedded/requests.js';
export { errorMessage, PetrelError } from './errors.js';
export { unknownName } from './group/known-names.js';
export type { GroupView } from './group/view.js';
export { FunctionWorkload } from './library/function-workload.js';
export { silentLogger } from './log.js';
export { openAcl } from './model/acl.js';
export { durationMs } from './model/duration.js';
export { groupConfigSchema } from './model/group-config.js';
export { longSchema, nameSchema, strictObject, toInstant } from './model/names.js';
export { cut, depthProblem, firstOf } from './model/outside.js';
export { groupPaths } from './model/paths.js';
export { plainMessage } from './model/plain-message.js';
export { prepareStrategy } from './model/read-config.js';
export { registrationSchema } from './model/registration.js';
export { requestsScore } from './model/scores.js';
export type { Claim, Member, Versioned } from './model/snapshot.js';
export {
  type Elected,
  initialElected,
  initialHistoryHead,
  lastTerm,
} from './model/znodes.js';
export type { Clock } from './ports/clock.js';
export type { Host } from './ports/host.js';
export type { Store } from './ports/store.js';
export { threadProgram } from './thread-program.js';
export { treeContents } from './tree/ensure-tree.js';
export { lossProblem, lostNodes } from './what-if/losses.js';
export type { Outcome, Simulation } from './what-if/simulation.js';
export { type Assumed, loadOf, sizeOf } from './what-if/situation.js';
export { type Dial, openStore } from './zookeeper/index.js';
