/**
 * Restricts the host names under which an agent that listens on loopback only can be addressed. Otherwise a
 * page from another site could point its own name at this machine and read the group in a local browser. Such
 * requests carry that name as their host.
 *
 * The role of this node, for load balancers, is available under any name: load balancers send arbitrary
 * names, and the role reveals little.
 */
import { hostText, isLoopback, type ListenAddress } from '../config/listen.js';
import { quoted } from '../model/outside.js';
import type { App } from './app.js';
import { Denial } from './failures.js';

export interface Names {
  readonly listen: ListenAddress;
  /** Further names under which clients reach it, through a proxy on this machine. */
  readonly hosts: readonly string[];
  /** Paths that are served under any name. */
  readonly open: ReadonlySet<string>;
}

/**
 * Rejects other names with 421. An agent that other machines can reach accepts any name, because it cannot
 * know its names.
 */
export function refuseOtherNames(app: App, { listen, hosts, open }: Names): void {
  if (!isLoopback(listen.host)) return;
  const known = new Set(hosts.map((host) => host.toLowerCase()));
  app.addHook('onRequest', (request, _reply, done) => {
    const isOpen = open.has(request.routeOptions.url ?? '');
    const host = isOpen ? '' : request.hostname.toLowerCase();
    done(isOwn(host) || known.has(host) ? undefined : misdirected(host, listen));
  });
}

/** An empty name means that the request does not come from a browser, or is for an open path. */
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
