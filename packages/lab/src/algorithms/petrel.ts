/**
 * Petrel itself: each node runs the shipped agent and client. ZooKeeper's state machine runs on one server
 * that never fails.
 *
 * Takeover and release take no time, because the simulation has no service. Session pings are sent but not
 * counted. The traffic between ZooKeeper's own servers is left out.
 */
import { algorithm } from '../algorithm.js';
import type { Packet } from '../petrel/connection.js';
import { Ensemble } from '../petrel/ensemble.js';
import { AgentNode } from '../petrel/node.js';

export const petrel = algorithm<Packet>({
  name: 'petrel',
  title: 'Petrel: its own agent on a simulated ZooKeeper',
  isReliable: true,
  detector: 'server',
  isAsync: true,
  size: ({ bytes }) => bytes?.length ?? 0,
  node: (context) => new AgentNode(context),
  server: (context) => new Ensemble(context),
  expect: () => [],
  always: [{ measure: 'leaders', value: 1, kind: 'at most', source: 'never two at a time' }],
});
