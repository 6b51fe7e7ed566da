import { describe, expect, it } from 'vitest';
import { until } from '../until.js';

describe('until', () => {
  it('gives what the probe gave in the end', async () => {
    let looks = 0;
    expect(await until(() => (++looks < 3 ? undefined : { looks }))).toEqual({ looks: 3 });
  });

  it('takes 0 and the empty text for success', async () => {
    expect(await until(() => 0)).toBe(0);
    expect(await until(() => '')).toBe('');
  });

  it('looks again after a probe that threw', async () => {
    let looks = 0;
    const probe = () => {
      looks += 1;
      if (looks < 2) throw new Error('not yet');
      return looks;
    };
    expect(await until(probe)).toBe(2);
  });

  it('fails in time, and says what it waited for and what it saw last', async () => {
    await expect(until(() => null, { timeoutMs: 30, describe: 'a leader' })).rejects.toThrow(
      'waited 30 ms for a leader; the last look gave null',
    );
    const failing = until(() => Promise.reject(new Error('refused')), { timeoutMs: 30 });
    await expect(failing).rejects.toThrow('the last look failed: refused');
  });
});
