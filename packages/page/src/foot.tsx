/** The footer of the page: the agent that serves it, the health of the ensemble, and links. */
import { ensembleHealth } from './ensemble.js';
import { Facts } from './facts.js';
import type { AgentInfo } from './schemas.js';
import type { Known } from './store.js';

const links: readonly (readonly [label: string, path: string])[] = [
  ['Runbook', 'docs/guides/runbook.md'],
  ['About this page', 'docs/guides/page.md'],
  ['HTTP API', 'docs/reference/http.md'],
  ['OpenAPI', 'openapi.json'],
  ['Metrics', 'metrics'],
];

export function Foot({ known: { agent, link } }: { readonly known: Known }) {
  return (
    <footer class={`foot${link.state === 'live' ? '' : ' stale'}`}>
      {agent === null ? null : <AgentFacts agent={agent} />}
      <nav aria-label="Documentation and metrics">
        <ul class="links">
          {links.map(([label, path]) => (
            <li key={path}>
              <a href={path}>{label}</a>
            </li>
          ))}
        </ul>
      </nav>
    </footer>
  );
}

function AgentFacts({ agent }: { readonly agent: AgentInfo }) {
  const { version, node, host, pid } = agent;
  const { problem, text } = ensembleHealth(agent);
  return (
    <div class={problem ? 'foot-problem' : undefined}>
      <Facts
        facts={[
          ['Petrel', version],
          ['agent', `${node} on ${host}, pid ${pid}`],
          ['ZooKeeper', text],
        ]}
      />
    </div>
  );
}
