/** `petrel run` on nodes that lose touch with the ensemble, or freeze. */
import { describe, expect, it } from 'vitest';
import { useServers } from '../support/cluster.js';
import { Links } from '../support/links.js';
import { service, useRunGroup } from '../support/run-group.js';
import { until } from '../support/until.js';

const servers = useServers();
const at = useRunGroup(() => servers.connectString);

describe('a leader out of touch', () => {
  const stubborn = 'trap "say told" TERM; while :; do say lives; sleep 0.02; done';

  it.each([
    ['a command that stops', service],
    ['a command that ignores SIGTERM', stubborn],
  ])('has stopped %s before another runs it, and exits with 7', async (_, script) => {
    await using links = await Links.to(servers.all);
    const a = await at().run('a', script, [], links.connectString);
    const { token } = await at().noted('a', 'begins');
    await at().run('b', service);
    await using _cut = links.cut();
    await at().noted('a', 'told');
    const next = await at().noted('b', 'begins');
    expect(next.token).toBeGreaterThan(token);
    expect(await a.exited).toEqual({ code: 7, signal: null });
    const last = (await at().notes()).findLast(({ node }) => node === 'a');
    expect(last?.atMs).toBeLessThan(next.atMs);
  });

  it('P10 whose petrel is frozen has its command stopped all the same, and exits with 7 when it wakes', async () => {
    const a = await at().run('a', service);
    const { pid } = await at().noted('a', 'begins');
    await at().run('b', service);
    a.pause();
    await at().noted('a', 'told');
    await until(() => !lives(pid));
    await at().noted('b', 'begins');
    a.resume();
    expect(await a.exited).toEqual({ code: 7, signal: null });
  });
});

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
