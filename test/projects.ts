/**
 * Assigns each test file to a project. `npm test` runs all projects except `rest`. `npm run test:rest` runs
 * `rest` and further checks.
 *
 * A file belongs to `rest` if it takes long and a cheaper test in `npm test` covers the same promise. A
 * comment names the cheaper test. `rest` is no place for a flaky test.
 */

/** Tests of promises that depend on the behaviour of a real server. */
const real = ['test/contract/*.test.ts', 'test/integration/essentials.test.ts'];

/** Slow tests. The comment before each entry names the tests in `npm test` that cover its promises. */
const rest = [
  // The whole state space of small groups. Covered by `test/core` and the simulated runs of
  // `test/simulation`.
  'test/exploration/**/*.test.ts',
  'test/core/{convergence,life}.test.ts',
  // Noise in 240 simulated hours. Covered by the single hours of `test/core/stabilization.test.ts`.
  'test/core/noise.test.ts',
  // The commands that run these test tools. Tests of the tools themselves cover them.
  'test/simulation/{main,sabotages/hunt}.test.ts',
  'test/chaos/{chaos,test/main}.test.ts',
  // The laboratory and the planning tools. No agent runs any of them.
  'test/lab/**/*.test.ts',
  'test/what-if/**/*.test.ts',
  'test/cli/{lab,simulate,deployments}.test.ts',
  'test/bench/**/*.test.ts',
  'test/live/**/*.test.ts',
  // A user's own strategy or constraint that loops, throws or grows. `test/core/choice.test.ts` covers how
  // Petrel handles such a failure.
  'test/own-strategies/**/*.test.ts',
  'test/cli/own-{strategies,constraints}.test.ts',
  // Agents in separate processes, over real servers. `test/integration/essentials.test.ts` covers each
  // feature once. `test/agent` covers the same agents inside the test's process.
  'test/integration/{crashes,elector,groups,guardian,hooks,network,packages,packed,random-cuts,reload,running,servers,shipped}.test.ts',
  'test/agent/unseating.test.ts',
  'test/hooks/guarding.test.ts',
  'test/guardian/service-manager.test.ts',
  'test/dev/**/*.test.ts',
  'test/cli/{acl,dev,several,story}.test.ts',
  'test/http/leading.test.ts',
  // Hooks and leases in real time. Covered by
  // `test/hooks/{late-deaths,random-leaderships,taken-back}.test.ts` and the simulated runs.
  'test/hooks/leadership.test.ts',
  'test/agent/lease-losses.test.ts',
  'test/guardian/renewals.test.ts',
  // Commands in separate processes. `test/group` covers what each command does, and `essentials.test.ts` that
  // it runs.
  'test/cli/{change,completion,config,look,lost-output,run,secrets,terminal,watch,which-group}.test.ts',
  'test/config/log.test.ts',
  // A thousand simultaneous readers, and slow ones. Covered by `test/http/{agent,crowd}.test.ts`.
  'test/http/{events,limits,reads}.test.ts',
  // Petrel together with other programs: a browser, a database, Prometheus, OpenTelemetry, HAProxy,
  // Kubernetes and kazoo.
  'test/http/{page,several-groups}.test.ts',
  'test/tracing/**/*.test.ts',
  'test/fencing/**/*.test.ts',
  'test/deploy/**/*.test.ts',
  'test/examples/**/*.test.ts',
  'examples/**/*.test.ts',
  'test/embedded/{kazoo,command-line}.test.ts',
  // Probes that measure round trips between nodes. Covered by `test/probe/*.properties.test.ts`.
  'test/probe/{nodes,prober}.test.ts',
  // Costs that grow with the size of a group. These tests count them on a server. The simulated runs count
  // them in virtual time.
  'test/agent/{cost,shared-session,scores,stabilization}.test.ts',
];

const all = ['test/**/*.test.ts', 'examples/**/*.test.ts'];

export const projectFiles = {
  /** Tests that need no ZooKeeper, or run on the development server of `src/embedded`. */
  embedded: { include: all, exclude: [...real, ...rest] },
  /** Tests that run on the best ZooKeeper available: containers, else Java, else the embedded one. */
  real: { include: real },
  /** Slow tests. They also run on the best ZooKeeper available. */
  rest: { include: rest },
};
