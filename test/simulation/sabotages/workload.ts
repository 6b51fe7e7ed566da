/** Sabotages of the code that runs the hooks and guards the leadership. */
import type { Sabotage } from './sabotage.js';

export const workloadSabotages: readonly Sabotage[] = [
  {
    name: 'guard that hears no lease end',
    rule: 'The guardian ends the leadership when its lease passes unrenewed, whatever the agent does',
    in: 'Guard#setLease',
    find: 'this.#leaseAlarm.set(releaseAtMs, () => this.#leaseIsDue());',
    replace: '',
  },
  {
    name: 'guard that looks no lease up',
    rule: 'The guardian looks up the newest lease before it ends a leadership for want of one',
    in: 'Guard#lookUpLease',
    find: 'if (isNews) this.#setLease(noted);',
    replace: '',
  },
  {
    name: 'guard that does not kill at the lease end',
    rule: 'At the end of the lease whatever is left is killed',
    in: 'Guard#lastKillAtMs',
    find: 'lease.endsAtMs - Math.min(maxKillMarginMs, (lease.endsAtMs - lease.releaseAtMs) / 4)',
    replace: 'never',
  },
  {
    name: 'guard that outlives its agent and goes on',
    rule: 'The guardian ends the leadership when the agent dies',
    in: 'Guard#agentGone',
    find: 'if (begun && !released && ending === null) this.#releaseUnasked(reason); else this.#queue.abort(isNoRelease, reason);',
    replace: 'if (!begun || released || ending !== null) this.#queue.abort(isNoRelease, reason);',
  },
  {
    name: 'the guard gets the lease only once',
    rule: 'The lease in force is handed to the guardian at every renewal',
    in: 'LeadershipRunner#renewFrom',
    find: '() => this.#guard()',
    replace: '() => {}',
  },
  {
    name: 'guard without a lease',
    rule: 'The guardian holds the lease before the takeover starts',
    in: 'LeadershipRunner#guard',
    find: 'this.#options.workload.holdLease(lease, this.#guardedBy);',
    replace: '',
  },
  {
    name: 'release that leaves the workload',
    rule: 'When the release has ended nothing of the leadership lives',
    in: 'Guard#endLeadership',
    find: 'const ended = await this.#endGroups(() => true, request.graceMs); if (request.leadership === this.#leadership.id) { this.#leadership.released = true; this.#groups.spare(0); }',
    replace:
      'const ended = true; if (request.leadership === this.#leadership.id) { this.#leadership.released = true; }',
    also: [
      {
        in: 'Guard#markReleased',
        find: `'leadership was released'); this.#groups.spare(0);`,
        replace: `'leadership was released');`,
      },
    ],
  },
  {
    name: 'a group counts as dead when it was stopped',
    rule: 'Dead is what is proven dead, not what was asked to stop',
    in: 'endGroup',
    find: 'let killedAtMs: number | null = null',
    replace: 'if (killAtMs() > 0) return true; let killedAtMs: number | null = null',
  },
  {
    name: 'a process counts as dead when its main thread has ended',
    rule: 'Dead is a process of which every thread has ended',
    in: 'hasEnded',
    find: `(state === 'Z' || state === 'X') && threads <= 1`,
    replace: `(state === 'Z' || state === 'X') && threads <= 1_000`,
    also: [
      {
        in: 'isDead',
        find: `processes.signalGroup(pgid, 'SIGKILL'); return !processes.groupIsAlive(pgid);`,
        replace: 'return true;',
      },
    ],
  },
  {
    name: "a dead supervisor's workload goes on",
    rule: 'When the supervisor dies the agent kills what it ran',
    in: 'CommandWorkload#supervisorGone',
    find: 'const provenDead = await this.#killGroups(); if (this.#closed) return;',
    replace: 'const provenDead = true; if (this.#closed) return;',
  },
  {
    name: 'leads on without a workload',
    rule: 'A leader whose guardian is lost, and its workload with it, ends its leadership',
    in: 'CommandWorkload#supervisorGone',
    find: `if (begun && !released) this.#listeners.notify({ cause: 'guard-lost', reason, provenDead });`,
    replace: '',
    also: [
      {
        in: 'GuardianChannel#lost',
        find: 'this.#notify((listener) => listener.gone());',
        replace: '',
      },
    ],
  },
  {
    name: 'a hanging supervisor is left alone',
    rule: 'A supervisor that has not ended the leadership with its lease is killed, and what it ran',
    in: 'CommandWorkload#leaseOver',
    find: '!this.#leadership.begun || this.#leadership.released',
    replace: 'this.#leadership.id > 0',
  },
];
