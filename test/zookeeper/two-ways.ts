/**
 * Two proxies to one server, which look like two servers to a client. A test can break the connection in use
 * while the other proxy keeps working.
 */
import { sharedZooKeeper } from '../support/ensemble.js';
import { startProxy, type TcpProxy } from '../support/proxy.js';

export interface TwoWays extends AsyncDisposable {
  readonly connectString: string;
  /** Returns the proxy that the only client uses, and the other proxy. */
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
