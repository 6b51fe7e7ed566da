/** What goes over the network in the clear, and certificates that will not last. */
import type { CertificateFacts, Facts, NodeFacts } from './facts.js';
import { type Finding, finding, ok, orOk } from './finding.js';

const dayMs = 86_400_000;
/** Time enough for people to renew a certificate. */
const soonMs = 21 * dayMs;

export function checkTransports({ node }: Facts): Finding[] {
  return [...checkClear(node), ...checkCertificates(node)];
}

function checkClear({ transports }: NodeFacts): Finding[] {
  const zooKeeper = transports.isPasswordInClear
    ? [
        finding(
          'wires',
          'warning',
          'the ZooKeeper password goes over the network in the clear',
          'speak TLS to the servers: tls.ca, or keep the network to yourselves',
        ),
      ]
    : [];
  const http = transports.isTokenInClear
    ? [
        finding(
          'wires',
          'warning',
          'HTTP is open to other machines, and the token that changes want goes over the network in the clear',
          'give http.tls.cert and http.tls.key, or listen on a loopback address',
        ),
      ]
    : [];
  return orOk([...zooKeeper, ...http], 'wires', 'no secret leaves this machine in the clear');
}

function checkCertificates({ certificates, nowMs }: NodeFacts): Finding[] {
  const findings = certificates.flatMap((certificate) => checkCertificate(certificate, nowMs));
  if (certificates.length === 0) return [];
  return findings.length > 0 ? findings : [ok('certificates', 'all last for another three weeks at least')];
}

function checkCertificate({ key, path, endsAtMs }: CertificateFacts, nowMs: number): Finding[] {
  const name = `${path} (${key})`;
  if (endsAtMs === null) {
    return [
      finding(
        'certificates',
        'error',
        `${name} holds no certificate that can be read`,
        'a PEM file is wanted',
      ),
    ];
  }
  const left = endsAtMs - nowMs;
  if (left > soonMs) return [];
  const at = new Date(endsAtMs).toISOString();
  return left <= 0
    ? [finding('certificates', 'error', `${name} has ended, at ${at}`, renew)]
    : [
        finding(
          'certificates',
          'warning',
          `${name} ends in ${Math.ceil(left / dayMs)} days, at ${at}`,
          renew,
        ),
      ];
}

const renew = 'renew it; an agent takes a new one of HTTP on SIGHUP, one of ZooKeeper with a restart';
