/** Describes the health of the ZooKeeper ensemble, as the agent sees it. */
import type { AgentInfo } from './schemas.js';

export interface EnsembleHealth {
  /** Whether the agent is disconnected, or a server does not respond. */
  readonly problem: boolean;
  readonly text: string;
}

export function ensembleHealth({ session, servers }: AgentInfo): EnsembleHealth {
  const down = servers.filter(({ problem }) => problem !== null);
  const connected = session === 'CONNECTED' ? 'connected' : 'this agent is not connected';
  const responding = `${servers.length - down.length} of ${servers.length} servers respond`;
  const problems = down.map(({ server, problem }) => `${server}: ${problem}`);
  return {
    problem: session !== 'CONNECTED' || down.length > 0,
    text: [`${connected}, ${responding}`, ...problems].join('; '),
  };
}
