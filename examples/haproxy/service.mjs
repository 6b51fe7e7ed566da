// A web service that runs only on the leader.
import { createServer } from 'node:http';

const { HOST, PORT = '8080', DRAIN_MS = '250', PETREL_NODE: node, PETREL_TERM: term } = process.env;

const server = createServer((_request, response) => response.end(`${node} in term ${term}\n`));
server.listen({ host: HOST, port: Number(PORT) });

// After SIGTERM it serves until HAProxy has noticed at its next check, and exits when all requests are
// answered.
process.once('SIGTERM', () => setTimeout(() => server.close(), Number(DRAIN_MS)));
