/**
 * Checks the host names in requests to an agent that listens only on loopback. Without this check, a page
 * from another website could make its own host name resolve to this machine, and then read the group through
 * a browser on this machine. Requests from such a page contain that host name.
 *
 * The paths that report this node's role to load balancers accept any host name. Load balancers send
 * arbitrary host names, and the role reveals little.
 */
import { hostText, isLoopback, type ListenAddress } from '../config/listen.js';
import { quoted } from '../model/outside.js';
import type { App } from './app.js';
import { Denial } from './failures.js';

export interface Names {
  readonly listen: ListenAddress;
  /** Further host names that clients use to reach the agent, through a proxy on this machine. */
  readonly hosts: readonly string[];
  /** Paths that are served under any host name. */
  readonly open: ReadonlySet<string>;
}

/**
 * Rejects requests for other host names with status 421. An agent that other machines can reach accepts any
 * host name, because clients may use names that the agent does not know.
 */
export function refuseOtherNames(app: App, { listen, hosts, open }: Names): void {
  if (!isLoopback(listen.host)) return;
  const known = new Set(hosts.map((host) => host.toLowerCase()));
  app.addCheck(({ headers }, place) => {
    if (place !== null && open.has(place.path)) return;
    const host = (headers.host ?? '').replace(/:\d*$/, '').toLowerCase();
    if (!isOwn(host) && !known.has(host)) throw misdirected(host, listen);
  });
}

/**
 * Whether the host name is one of the agent's own names. An empty name means that the request does not come
 * from a browser.
 */
function isOwn(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1');
  return name === '' || name.endsWith('.localhost') || isLoopback(name);
}

function misdirected(host: string, { host: own }: ListenAddress): Denial {
  const message =
    `this agent accepts requests only from its own machine, and not for the host name ${quoted(host)}: ` +
    `use ${hostText(own)} or localhost, or add the name to http.hosts`;
  return new Denial(421, 'MISDIRECTED', message);
}
