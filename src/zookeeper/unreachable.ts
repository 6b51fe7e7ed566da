/** Describes servers that could not be reached. The description contains each server's address once. */
import { type Server, serverText } from './connection-string.js';

export interface UnreachableServer {
  readonly server: string;
  /** Reason why the server could not be reached. Does not repeat the server's address. */
  readonly why: string;
}

/** Cause of an error: no server could be reached. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  readonly servers: readonly UnreachableServer[];

  constructor(servers: readonly UnreachableServer[]) {
    super(unreachableText(servers));
    this.servers = servers;
  }
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  ENOTFOUND: 'unknown host name',
  ETIMEDOUT: 'connection timed out',
};

/** Returns the problem in plain words. Returns it unchanged if no plain words are known for it. */
function plainProblem(problem: string): string {
  const [code = ''] = /\bE[A-Z]{4,}\b/.exec(problem) ?? [];
  return words[code] ?? problem;
}

/** Returns a message about the servers. `named` names the settings that contain their addresses. */
export function unreachableText(
  servers: readonly UnreachableServer[],
  { named = '', triedMs }: { readonly named?: string; readonly triedMs?: number } = {},
): string {
  const [first, ...others] = servers;
  const tried = triedMs === undefined ? '' : `, tried for ${triedMs / 1000} s`;
  if (first !== undefined && others.length === 0)
    return `ZooKeeper is unreachable at ${first.server}${named}: ${first.why}${tried}`;
  const each = servers.map(({ server, why }) => `${server}: ${why}`).join('; ');
  return `ZooKeeper is unreachable${named}${tried}: ${each}`;
}

/** The last problem with each server. */
export class ServerProblems {
  readonly #servers: readonly string[];
  readonly #problems = new Map<string, { readonly text: string; readonly problem: string }>();

  constructor(servers: readonly Server[]) {
    this.#servers = servers.map(serverText);
  }

  /** Records a problem. `text` also contains the address that was tried. */
  record(server: Server, problem: string, text = `${serverText(server)}: ${problem}`): void {
    this.#problems.set(serverText(server), { text, problem: plainProblem(problem) });
  }

  /** Records that the server is being tried. An earlier problem with it is remembered. */
  tries(server: Server): void {
    if (!this.#problems.has(serverText(server))) this.record(server, 'no response yet');
  }

  clear(server: Server): void {
    this.#problems.delete(serverText(server));
  }

  get text(): string {
    return this.#servers
      .map((server) => this.#problems.get(server)?.text ?? `${server}: not tried yet`)
      .join('; ');
  }

  get unreachable(): Unreachable {
    return new Unreachable(
      this.#servers.map((server) => {
        return { server, why: this.#problems.get(server)?.problem ?? 'not tried yet' };
      }),
    );
  }
}
