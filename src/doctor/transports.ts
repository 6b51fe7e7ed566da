/** Finds unencrypted traffic, and certificates that expire soon. */
import type { CertificateFacts, Facts, NodeFacts } from './facts.js';
import { type Finding, finding, ok, orOk } from './finding.js';

const dayMs = 86_400_000;
/**
 * A certificate that expires within this time is reported, so that operators have enough time to renew it.
 */
const soonMs = 21 * dayMs;

export function checkTransports({ node }: Facts): Finding[] {
  return [...checkClear(node), ...checkCertificates(node)];
}

function checkClear({ transports }: NodeFacts): Finding[] {
  const zooKeeper = transports.isPasswordInClear
    ? [
        finding(
          'transports',
          'warning',
          'the ZooKeeper password is sent over the network in clear text',
          'set tls.ca to use TLS to the servers, or make sure that the network is private',
        ),
      ]
    : [];
  const http = transports.isTokenInClear
    ? [
        finding(
          'transports',
          'warning',
          'HTTP is open to other machines without TLS: the token for changes is sent over the network in clear text',
          'set http.tls.cert and http.tls.key, or listen on a loopback address',
        ),
      ]
    : [];
  return orOk([...zooKeeper, ...http], 'transports', 'no secret leaves this machine in clear text');
}

function checkCertificates({ certificates, nowMs }: NodeFacts): Finding[] {
  const findings = certificates.flatMap((certificate) => checkCertificate(certificate, nowMs));
  if (certificates.length === 0) return [];
  return findings.length > 0
    ? findings
    : [ok('certificates', 'all certificates are valid for at least three more weeks')];
}

function checkCertificate({ key, path, endsAtMs }: CertificateFacts, nowMs: number): Finding[] {
  const name = `${path} (${key})`;
  if (endsAtMs === null) {
    return [
      finding(
        'certificates',
        'error',
        `${name} contains no readable certificate`,
        'replace the file with a certificate in PEM format',
      ),
    ];
  }
  const left = endsAtMs - nowMs;
  if (left > soonMs) return [];
  const at = new Date(endsAtMs).toISOString();
  return left <= 0
    ? [finding('certificates', 'error', `${name} expired at ${at}`, renew)]
    : [
        finding(
          'certificates',
          'warning',
          `${name} expires in ${Math.ceil(left / dayMs)} ${left <= dayMs ? 'day' : 'days'}, at ${at}`,
          renew,
        ),
      ];
}

const renew =
  'renew the certificate. An agent loads a new HTTP certificate on SIGHUP, and a new ZooKeeper certificate at restart';
