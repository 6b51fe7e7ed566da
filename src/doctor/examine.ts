/** Runs all checks. Each check is a pure function of the facts. */
import type { Facts } from './facts.js';
import { type Finding, severities } from './finding.js';
import { checkGroup, checkLeadership } from './group.js';
import { checkNode } from './node.js';
import { checkServers, checkSession } from './servers.js';
import { checkTokens } from './tokens.js';
import { checkTransports } from './transports.js';

const checks = [
  checkLeadership,
  checkServers,
  checkSession,
  checkGroup,
  checkTokens,
  checkNode,
  checkTransports,
];

/** Returns the findings, the worst first. */
export function examine(facts: Facts): Finding[] {
  const findings = checks.flatMap((check) => check(facts));
  return findings.toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity));
}
