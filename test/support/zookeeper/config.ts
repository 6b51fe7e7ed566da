/** The zoo.cfg of a test server. It is the same for every kind that reads such a file. */
import type { ServerOptions } from './server.js';

export interface ConfigPlace {
  readonly dataDir: string;
  readonly clientAddress: string;
  readonly clientPort: number;
  /** `server.N=…` lines. The list is empty for a single server. */
  readonly peers: readonly string[];
  readonly secure?: SecurePlace;
}

export interface SecurePlace {
  readonly port: number;
  readonly keyStorePath: string;
  readonly trustStorePath: string;
}

export function zooConfig(place: ConfigPlace, options: ServerOptions): string {
  const lines = [
    `tickTime=${options.tickTimeMs ?? 500}`,
    'initLimit=10',
    `syncLimit=${options.syncLimitTicks ?? 5}`,
    `dataDir=${place.dataDir}`,
    `clientPort=${place.clientPort}`,
    `clientPortAddress=${place.clientAddress}`,
    'admin.enableServer=false',
    '4lw.commands.whitelist=*',
    'maxClientCnxns=0',
    // Tests kill servers, but not the machine under them.
    'forceSync=no',
    ...line('minSessionTimeout', options.minSessionTimeoutMs),
    ...line('maxSessionTimeout', options.maxSessionTimeoutMs),
    ...place.peers,
    ...(place.secure === undefined ? [] : tlsConfig(place.clientAddress, place.secure, options)),
    ...(options.extraConfig ?? []),
  ];
  return `${lines.join('\n')}\n`;
}

function line(key: string, value: number | undefined): string[] {
  return value === undefined ? [] : [`${key}=${value}`];
}

function tlsConfig(address: string, secure: SecurePlace, options: ServerOptions): string[] {
  return [
    `secureClientPort=${secure.port}`,
    `secureClientPortAddress=${address}`,
    'serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory',
    'ssl.keyStore.type=PEM',
    `ssl.keyStore.location=${secure.keyStorePath}`,
    'ssl.trustStore.type=PEM',
    `ssl.trustStore.location=${secure.trustStorePath}`,
    `ssl.clientAuth=${options.tls?.clientAuth ?? 'need'}`,
    'ssl.hostnameVerification=false',
  ];
}
