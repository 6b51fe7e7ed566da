// A web service that runs on the leader alone.
import { createServer } from 'node:http';

const { HOST, PORT = '8080', DRAIN_MS = '250', PETREL_NODE: node, PETREL_TERM: term } = process.env;

const server = createServer((_request, response) => response.end(`${node} in term ${term}\n`));
server.listen({ host: HOST, port: Number(PORT) });

// Told to stop: it serves on until HAProxy has looked, at the next check, and ends when all is answered.
process.once('SIGTERM', () => setTimeout(() => server.close(), Number(DRAIN_MS)));
