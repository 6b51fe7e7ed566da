/**
 * Two proxies to one server that look like two servers. The connection in use can be broken while the other
 * proxy stays intact.
 */
import { sharedZooKeeper } from '../support/ensemble.js';
import { startProxy, type TcpProxy } from '../support/proxy.js';

export interface TwoWays extends AsyncDisposable {
  readonly connectString: string;
  /** The proxy that the only client uses, and the other one. */
  which(): { used: TcpProxy; other: TcpProxy };
}

export async function twoWays(): Promise<TwoWays> {
  const target = await sharedZooKeeper();
  const [first, second] = [await startProxy({ target }), await startProxy({ target })];
  return {
    connectString: `${first.address},${second.address}`,
    which: () => (first.open > 0 ? { used: first, other: second } : { used: second, other: first }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([first.stop(), second.stop()]);
    },
  };
}
