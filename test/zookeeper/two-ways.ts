/**
 * Two proxies to one server, as if it were two servers: the way a client took can be broken, the other stays
 * whole.
 */
import { sharedZooKeeper } from '../support/ensemble.js';
import { startProxy, type TcpProxy } from '../support/proxy.js';

export interface TwoWays extends AsyncDisposable {
  readonly connectString: string;
  /** The way in use by the one client that there is, and the other. */
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
