import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Health, HealthProber } from '../../src/hooks/health-prober.js';
import { bench, eventually, machine, silentLog } from './support.js';

const at = bench();

/** Returns a prober with a short interval, and a list of the changes that it reports. */
function prober(command: string, overrides: { failures?: number; timeoutMs?: number } = {}) {
  const health = new HealthProber({
    check: { command, intervalMs: 50, timeoutMs: 5000, failures: 3, ...overrides },
    node: 'a1',
    root: '/cluster',
    site: 'a',
    log: silentLog,
    ...machine,
  });
  const heard: Health[] = [];
  health.onChange((change) => heard.push(change));
  return { health, heard };
}

describe('the health prober', () => {
  it('takes a node for unhealthy until a check has succeeded', async () => {
    const { health, heard } = prober('test "$PETREL_NODE $PETREL_PHASE" = "a1 health"');
    expect(health.health).toEqual({ healthy: false, reason: 'the first health check has not completed' });
    await eventually(() => heard).toEqual([{ healthy: true, reason: null }]);
    expect(health.health.healthy).toBe(true);
    await health.close();
  });

  it('takes several failures in a row to make it unhealthy, one success to make it healthy', async () => {
    const sick = join(at().directory, 'sick');
    const { health, heard } = prober(
      'echo x >> $DIR/checks; test ! -e $DIR/sick || { date +%N >> $DIR/failed; tail -1 $DIR/failed; exit 7; }',
    );
    await eventually(() => heard).toHaveLength(1);
    writeFileSync(sick, '');
    await eventually(() => heard).toHaveLength(2);
    expect(at().lines('failed').length).toBeGreaterThanOrEqual(3);
    expect(heard[1]).toEqual({
      healthy: false,
      reason: expect.stringMatching(/^healthCheck exited with code 7: \d+$/),
    });
    await eventually(() => at().lines('failed').length).toBeGreaterThan(6);
    expect(heard).toHaveLength(2);
    rmSync(sick);
    await eventually(() => heard[2]).toEqual({ healthy: true, reason: null });
    await health.close();
  });

  it('reports no change after a single failure', async () => {
    const { health, heard } = prober('echo x >> $DIR/checks; test $(($(wc -l < $DIR/checks) % 3)) != 0');
    await eventually(() => at().lines('checks').length).toBeGreaterThan(12);
    expect(heard).toEqual([{ healthy: true, reason: null }]);
    await health.close();
  });

  it('kills a check that hangs, and never runs two at once', async () => {
    const { health, heard } = prober('trap "" TERM; sleep 999; sleep 999', {
      timeoutMs: 1000,
    });
    await eventually(() => heard[0]).toEqual({
      healthy: false,
      reason: 'healthCheck timed out after 1000 ms, and had to be killed',
    });
    await eventually(
      () =>
        at()
          .processes()
          .filter(({ args }) => args === 'sleep 999').length,
    ).toBe(1);
    await health.close();
    expect(at().processes()).toEqual([]);
  });

  it('says that the program is not there', async () => {
    const { health, heard } = prober('no-such-program-here');
    await eventually(() => heard[0]?.reason).toMatch(/^healthCheck exited with code 127: .*not found$/);
    await health.close();
  });
});
