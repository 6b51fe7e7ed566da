/** Sabotages of a node's own part: claiming, taking over, saying READY, releasing, giving the claim away. */
import type { Sabotage } from './sabotage.js';

const tenure = 'src/core/tenure.ts';
const leadership = 'src/agent/leadership.ts';

export const tenureSabotages: readonly Sabotage[] = [
  {
    name: 'claims without checking elected',
    rule: 'A claim checks the version of elected: who was outvoted meanwhile cannot claim',
    file: leadership,
    find: "        { type: 'check', path: paths.elected, version: electedVersion },\n        { type: 'create'",
    replace: "        { type: 'create'",
  },
  {
    name: 'READY without checking elected',
    rule: 'READY checks the version of elected',
    file: leadership,
    find: "        { type: 'check', path: paths.elected, version: electedVersion },\n        {\n          type: 'set',\n          path: paths.current,",
    replace: "        {\n          type: 'set',\n          path: paths.current,",
  },
  {
    name: 'READY before the takeover has ended',
    rule: 'READY is written when the takeover hook has succeeded',
    file: tenure,
    find: "  if (tenure.stage === 'taking-over') return null;\n",
    replace: '',
  },
  {
    name: 'READY after a failed takeover',
    rule: 'A takeover that failed is released, recorded and given away',
    file: leadership,
    find: "      if (outcome.result === 'ok') {\n        this.#enter('taken-over');",
    replace: "      if (outcome.result !== 'aborted') {\n        this.#enter('taken-over');",
  },
  {
    name: 'takes over unprepared',
    rule: 'A candidate claims once its prepare hook has succeeded',
    file: tenure,
    find: 'if (prepare !== null && prepare.doneUnder !== elected.version) {',
    replace: 'if (prepare !== null && prepare.doneUnder !== elected.version && snapshot.current !== null) {',
  },
  {
    name: 'claims without a seat',
    rule: 'A claim checks the own seat: what an evicted life sent late claims nothing',
    file: leadership,
    find: "        checkSeat(paths, seat),\n        { type: 'check', path: paths.elected, version: electedVersion },\n        { type: 'create'",
    replace:
      "        { type: 'check', path: paths.elected, version: electedVersion },\n        { type: 'create'",
  },
  {
    name: 'deletes whosever claim there is',
    rule: 'A node deletes only a claim that its session owns',
    file: tenure,
    find: 'return snapshot.current?.owner === session ? snapshot.current : null;',
    replace: 'return snapshot.current?.owner === session ? snapshot.current : snapshot.current;',
  },
  {
    name: 'never adopts a claim',
    rule: 'A read that finds a claim whose reply was lost adopts it',
    file: tenure,
    find: "    return { do: 'adopt', claim: own, elected: elected.value, electedVersion: elected.version };",
    replace: '    return null;',
  },
  {
    name: 'claims again under a version it failed in',
    rule: 'No node claims again under a version of elected that it failed in',
    file: tenure,
    find: "  if (failedUnder === elected.version) return 'it failed under this decision';\n",
    replace: '',
  },
  {
    name: 'claims though excluded',
    rule: 'The next try comes no sooner than the exclusion says',
    file: tenure,
    find: "  if (failureOf(elected.value.failures, self)?.until != null) return 'it is excluded after a failure';\n",
    replace: '',
  },
  {
    name: 'claims though unhealthy',
    rule: 'An unhealthy node does not lead, whoever was elected before it fell ill',
    file: tenure,
    find: 'const isUnhealthy = snapshot.self?.value?.health.ok === false;',
    replace: 'const isUnhealthy = false;',
  },
  {
    name: 'claims while it leaves',
    rule: 'Who leaves on purpose claims no more',
    file: tenure,
    find: "  if (draining) return 'it is leaving';\n",
    replace: '',
  },
  {
    name: 'goes on when its claim is gone',
    rule: 'A leader whose claim is gone stops at once',
    file: tenure,
    find: "if (own === null || own.token !== tenure.token) return 'the claim leader/current is gone';",
    replace: '',
  },
  {
    name: 'goes on when another is elected',
    rule: 'A leader that elected no longer names releases',
    file: tenure,
    find: '  if (elected.node !== self) return `${elected.node} is elected: ${elected.reason}`;\n',
    replace: '',
  },
  {
    name: 'goes on when the tree is gone',
    rule: 'A leader whose claim is gone with the whole tree stops, too',
    file: 'src/agent/agent.ts',
    find: '      await this.#leadership.checkClaim(this.#store);\n',
    replace: '',
  },
  {
    name: 'gives the claim away unproven',
    rule: 'The claim is held until the workload is proven dead',
    file: leadership,
    find: '    if (!outcome.provenDead) {',
    replace: '    if (!outcome.provenDead && outcome.durationMs < 0) {',
  },
  {
    name: 'gives the claim away before the release',
    rule: 'First the release, then the claim is deleted',
    file: tenure,
    find: "    case 'releasing':\n      return null;",
    replace:
      "    case 'releasing':\n      return snapshot === null ? null : afterRelease(situation, tenure, snapshot);",
  },
  {
    name: 'leaves its old term in the claim',
    rule: 'Elected away and back, the leader goes on under its token and rewrites its term',
    file: tenure,
    find: "const isTold = own.value?.status === 'READY' && own.value.term === elected.term;",
    replace: "const isTold = own.value?.status === 'READY';",
  },
  {
    name: 'does not say that it failed',
    rule: 'A failure is recorded with the elected version, and the elector sees it at once',
    file: leadership,
    find: '? { lastFailure: { electedVersion: under, token: String(token), detail: failure } }',
    replace: '? {}',
  },
  {
    name: 'does not say that it cannot prepare',
    rule: 'A failure is told to the elector, which does not wait for the watchdog',
    file: leadership,
    find: 'this.#options.amend({ lastFailure: { electedVersion, token: null, detail } });',
    replace: '',
  },
  {
    name: 'leaves without waiting for a successor',
    rule: 'Who leaves lets a successor be elected before it releases',
    file: 'src/agent/agent.ts',
    find: 'return this.#hurried || this.#drainLeftMs(this.#options.clock.monotonicMs()) <= 0;',
    replace: 'return this.#drainingSinceMs !== null;',
  },
];
