/** Tests what the guard ends when the agent dies, on a simulated machine. */
import { describe, expect, it } from 'vitest';
import { unasked } from '../../src/hooks/messages.js';
import { guarding, leading, lease, leavesStubborn, quick, request, stubborn } from './guard-record.js';

describe('the death of the agent', () => {
  it('releases at once, and is idle only when no process is left', async () => {
    const { machine, guard, idles } = await leading({ takeover: leavesStubborn });
    guard.agentGone('the agent died');
    await machine.run(lease.endsAtMs - 51);
    expect(machine.started).toEqual(['takeover', 'release']);
    expect(idles()).toBe(0);
    await machine.run(lease.endsAtMs);
    expect(idles()).toBeGreaterThan(0);
    expect(machine.groups.size).toBe(0);
  });

  it('releases a leadership that has no lease', async () => {
    const { machine, guard, ended } = guarding();
    guard.handle({ type: 'guard', release: request('release', { id: unasked }), begun: true });
    guard.agentGone('the agent died');
    await machine.run(100);
    expect(machine.started).toEqual(['release']);
    expect(ended()).toMatchObject({ outcome: { result: 'ok' }, leaseLeftMs: null });
  });

  it('limits a release that is running to the time before the last kill', async () => {
    const { machine, guard, signals } = await leading({ release: stubborn });
    guard.handle({ type: 'run', request: request('release') });
    await machine.run(550);
    guard.agentGone('the agent died');
    await machine.run(3_000);
    // 1400 ms were left.
    expect(signals.slice(0, 2)).toEqual(['1390: SIGTERM release', '1670: SIGKILL release']);
  });

  it.each([
    ['', async () => guarding({ fence: stubborn })],
    [
      ', also after a release',
      async () => {
        const on = await leading({ fence: stubborn });
        on.guard.handle({ type: 'end-leadership', leadership: 1 });
        return on;
      },
    ],
    [', also after the end of a lease', async () => leading({ fence: stubborn })],
  ])('stops a hook that belongs to no leadership%s', async (_, begin) => {
    const { machine, guard, signals, outcomeOf } = await begin();
    await machine.run(3_000);
    guard.handle({ type: 'run', request: request('fence', { graceMs: 100 }) });
    await machine.run(3_050);
    guard.agentGone('the agent died');
    await machine.run(4_000);
    expect(signals.slice(-2)).toEqual(['3050: SIGTERM fence', '3150: SIGKILL fence']);
    expect(outcomeOf(4)).toMatchObject({ result: 'aborted', provenDead: true });
  });

  it('drops the hooks that wait while the guard ends the leadership', async () => {
    const { machine, guard, outcomeOf } = await leading({ release: { ...quick, runsMs: 300 } });
    await machine.run(1_100);
    guard.handle({ type: 'run', request: request('fence') });
    guard.agentGone('the agent died');
    await machine.run(3_000);
    expect(machine.started).toEqual(['takeover', 'release']);
    expect(outcomeOf(4)).toMatchObject({ result: 'aborted', error: 'not started: the agent died' });
  });
});
