// A web service that runs only on the leader.
import { createServer } from 'node:http';

const { HOST, PORT = '8080', DRAIN_MS = '250', PETREL_NODE: node, PETREL_TERM: term } = process.env;

const server = createServer((_request, response) => response.end(`${node} in term ${term}\n`));
server.listen({ host: HOST, port: Number(PORT) });

// After SIGTERM, the service continues until HAProxy has noticed the change at its next check. It exits when
// it has answered all requests.
process.once('SIGTERM', () => setTimeout(() => server.close(), Number(DRAIN_MS)));
