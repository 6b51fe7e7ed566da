/**
 * By which names an agent may be asked that only its own machine can reach. A page from elsewhere whose name
 * is made to point at this machine could else read, in a browser here, what the group is: its requests bear
 * that name as their host. What this node is, for load balancers, is answered under any name: they send what
 * they like, and it tells little.
 */
import { hostText, isLoopback, type ListenAddress } from '../config/listen.js';
import { quoted } from '../model/outside.js';
import type { App } from './app.js';
import { Denial } from './failures.js';

export interface Names {
  readonly listen: ListenAddress;
  /** Further names by which it is asked, through a proxy on this machine. */
  readonly hosts: readonly string[];
  /** Paths that are answered under any name. */
  readonly open: ReadonlySet<string>;
}

/** Other names are answered 421. An agent that others can reach is asked by names that it need not know. */
export function refuseOtherNames(app: App, { listen, hosts, open }: Names): void {
  if (!isLoopback(listen.host)) return;
  const known = new Set(hosts.map((host) => host.toLowerCase()));
  app.addHook('onRequest', (request, _reply, done) => {
    const isOpen = open.has(request.routeOptions.url ?? '');
    const host = isOpen ? '' : request.hostname.toLowerCase();
    done(isOwn(host) || known.has(host) ? undefined : misdirected(host, listen));
  });
}

/** What bears no name was sent by no browser, or need bear none. */
function isOwn(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1');
  return name === '' || name.endsWith('.localhost') || isLoopback(name);
}

function misdirected(host: string, { host: own }: ListenAddress): Denial {
  const message =
    `this agent only accepts requests from its own machine, and not under the host name ${quoted(host)}: ` +
    `use ${hostText(own)} or localhost, or add the name to http.hosts`;
  return new Denial(421, 'MISDIRECTED', message);
}
