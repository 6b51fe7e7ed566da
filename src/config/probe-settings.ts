/** Settings for probes, and their conversion to the prober's options. */
import * as z from 'zod';
import { PetrelError } from '../errors.js';
import { durationInMs } from '../model/duration.js';
import { probeProtocols } from '../model/znodes.js';
import { parseEndpoint, parseHost } from '../probe/endpoint.js';
import type { ProbeSettings } from '../probe/prober.js';
import { probeSecretRule, probeSecretSchema } from '../probe/secret.js';
import { readSecretText } from './secret-file.js';
import { optionalPath, parsedBy, setting } from './setting.js';

export const probeFields = {
  probeListen: setting(parsedBy(parseEndpoint, 'expected HOST:PORT').nullable().prefault(null), {
    key: 'probe.listen',
    flags: '--probe-listen <host:port>',
    env: 'PETREL_PROBE_LISTEN',
    help: 'measure round trips between nodes; listen for probes on this address, such as 0.0.0.0:7946 or [::]:7946',
  }),
  probeAddress: setting(parsedBy(parseHost, 'expected HOST or HOST:PORT').nullable().prefault(null), {
    key: 'probe.address',
    flags: '--probe-address <host[:port]>',
    env: 'PETREL_PROBE_ADDRESS',
    help: 'address at which other nodes reach probe.listen',
    defaultText: 'the address of probe.listen, or the host name if probe.listen is all addresses',
  }),
  probeProtocol: setting(
    z.enum(probeProtocols, `expected one of ${probeProtocols.join(', ')}`).prefault('auto'),
    {
      key: 'probe.protocol',
      flags: '--probe-protocol <protocol>',
      env: 'PETREL_PROBE_PROTOCOL',
      help: 'protocol for probes: udp, tcp, or auto (UDP, and TCP where UDP is blocked)',
    },
  ),
  probeIntervalMs: setting(durationInMs({ minMs: 100, maxMs: 60_000 }).prefault('1s'), {
    key: 'probe.interval',
    flags: '--probe-interval <duration>',
    env: 'PETREL_PROBE_INTERVAL',
    help: 'interval between two probes of a peer',
  }),
  probeSecretFile: setting(optionalPath(), {
    key: 'probe.secretFile',
    flags: '--probe-secret-file <file>',
    env: 'PETREL_PROBE_SECRET_FILE',
    help: 'file with the secret that authenticates probes between nodes of the group; or give the secret itself in PETREL_PROBE_SECRET or in the settings file',
    isPath: true,
    isFile: true,
  }),
  probeSecret: setting(probeSecretSchema.nullable().prefault(null), {
    key: 'probe.secret',
    env: 'PETREL_PROBE_SECRET',
    help: 'secret that authenticates probes, instead of probe.secretFile',
    secret: true,
  }),
};

type Given = { readonly [Name in keyof typeof probeFields]: z.output<(typeof probeFields)[Name]> };

/**
 * Returns the prober's options. Returns null if the settings contain no listen address, because the node then
 * does not probe. Throws PetrelError INVALID for an unusable secret.
 */
export function probeSettings(settings: Given): ProbeSettings | null {
  const { probeListen, probeAddress, probeProtocol, probeIntervalMs, probeSecret, probeSecretFile } =
    settings;
  if (probeListen === null) return null;
  return {
    listen: parseEndpoint(probeListen),
    address: probeAddress === null ? null : parseHost(probeAddress),
    protocol: probeProtocol,
    intervalMs: probeIntervalMs,
    secret: probeSecret ?? (probeSecretFile === null ? null : readProbeSecret(probeSecretFile)),
  };
}

function readProbeSecret(path: string): string {
  const secret = probeSecretSchema.safeParse(readSecretText('probe.secretFile', path));
  if (secret.success) return secret.data;
  const problem = `${probeSecretRule}, but the secret in the file has a different length`;
  throw new PetrelError('INVALID', `probe.secretFile: ${path}: ${problem}`);
}
