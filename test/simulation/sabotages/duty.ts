/** Sabotages of what runs the hooks and guards the tenure. */
import type { Sabotage } from './sabotage.js';

const guard = 'src/hooks/guard.ts';
const duty = 'src/hooks/command-duty.ts';

export const dutySabotages: readonly Sabotage[] = [
  {
    name: 'guard that hears no lease end',
    rule: 'The guardian ends the tenure when its lease passes unrenewed, whatever the agent does',
    file: guard,
    find: '    this.#leaseAlarm.set(releaseAtMs, () => this.#leaseIsDue());\n',
    replace: '',
  },
  {
    name: 'guard that looks no lease up',
    rule: 'The guardian looks up the newest lease before it ends a tenure for want of one',
    file: guard,
    find: '    if (isNews) this.#setLease(noted);\n',
    replace: '',
  },
  {
    name: 'guard that does not kill at the lease end',
    rule: 'At the end of the lease whatever is left is killed',
    file: guard,
    find: '    return lease.endsAtMs - Math.min(maxKillMarginMs, (lease.endsAtMs - lease.releaseAtMs) / 4);',
    replace: '    return never;',
  },
  {
    name: 'guard that outlives its agent and goes on',
    rule: 'The guardian ends the tenure when the agent dies',
    file: guard,
    find: '    if (begun && !released && ending === null) this.#releaseUnasked(reason);\n    else this.#lane.abort(isNoRelease, reason);',
    replace: '    if (!begun || released || ending !== null) this.#lane.abort(isNoRelease, reason);',
  },
  {
    name: 'guard told of the lease but once',
    rule: 'The lease in force is handed to the guardian at every renewal',
    file: 'src/agent/leadership.ts',
    find: '      onTried: () => this.#guard(),',
    replace: '      onTried: () => {},',
  },
  {
    name: 'guard without a lease',
    rule: 'The guardian holds the lease before the takeover starts',
    file: 'src/agent/leadership.ts',
    find: '    this.#options.duty.holdLease(lease, this.#guardedBy);',
    replace: '',
  },
  {
    name: 'release that leaves the workload',
    rule: 'When the release has ended nothing of the tenure lives',
    file: guard,
    find: '    const ended = await this.#endGroups(() => true, request.graceMs);\n    if (request.tenure === this.#tenure.id) {\n      this.#tenure.released = true;\n      this.#groups.spare(0);\n    }',
    replace:
      '    const ended = true;\n    if (request.tenure === this.#tenure.id) {\n      this.#tenure.released = true;\n    }',
    also: [
      {
        file: guard,
        find: "'the tenure was let go');\n    this.#groups.spare(0);",
        replace: "'the tenure was let go');",
      },
    ],
  },
  {
    name: 'a group counts as dead when it was told to stop',
    rule: 'Dead is what is proven dead, not what was asked to stop',
    file: 'src/hooks/process-group.ts',
    find: '  let killedAtMs: number | null = null;',
    replace: '  if (killAtMs() > 0) return true;\n  let killedAtMs: number | null = null;',
  },
  {
    name: 'a process counts as dead when its main thread has ended',
    rule: 'Dead is a process of which every thread has ended',
    file: 'src/hooks/process-state.ts',
    find: "(state === 'Z' || state === 'X') && threads <= 1;",
    replace: "(state === 'Z' || state === 'X') && threads <= 1_000;",
    also: [
      {
        file: 'src/hooks/process-group.ts',
        find: "  processes.signalGroup(pgid, 'SIGKILL');\n  return !processes.groupLives(pgid);\n",
        replace: '  return true;\n',
      },
    ],
  },
  {
    name: "a dead keeper's workload goes on",
    rule: 'When the keeper dies the agent kills what it ran',
    file: duty,
    find: '    const provenDead = await this.#killGroups();\n    if (this.#closed) return;\n',
    replace: '    const provenDead = true;\n        if (this.#closed) return;\n',
  },
  {
    name: 'leads on without a workload',
    rule: 'A leader whose guardian is lost, and its workload with it, ends its tenure',
    file: duty,
    find: "    if (begun && !released) this.#listeners.notify({ cause: 'guard-lost', reason, provenDead });\n",
    replace: '',
    also: [
      {
        file: 'src/guardian/channel.ts',
        find: '    this.#tell((listener) => listener.gone());\n',
        replace: '',
      },
    ],
  },
  {
    name: 'a hanging keeper is left alone',
    rule: 'A keeper that has not ended the tenure with its lease is killed, and what it ran',
    file: duty,
    find: '    if (!this.#tenure.begun || this.#tenure.released) return;\n    const now',
    replace: '    if (this.#tenure.id > 0) return;\n    const now',
  },
];
