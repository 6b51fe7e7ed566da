/** Settings of an agent's HTTP interface. */
import * as z from 'zod';
import { parseListen } from './listen.js';
import { optionalPath, parsedBy, setting } from './setting.js';
import { tokenPattern, tokenRule } from './token.js';

export const httpFields = {
  httpListen: listen('auto', '127.0.0.1:8008, or off if that port is in use'),
  httpHosts: setting(z.array(z.hostname('expected a host name')).max(100).prefault([]), {
    key: 'http.hosts',
    flags: '--http-host <name...>',
    env: 'PETREL_HTTP_HOSTS',
    help: 'additional host names that an agent on a loopback address accepts in requests; in the variable, separated by commas',
    fromText: (texts) => texts,
    separator: ',',
  }),
  httpTokenFile: setting(optionalPath(), {
    key: 'http.tokenFile',
    flags: '--http-token-file <file>',
    env: 'PETREL_HTTP_TOKEN_FILE',
    help: 'file with the bearer token required for changes over HTTP; mode 0600',
    isPath: true,
    isFile: true,
  }),
  httpToken: setting(z.string('expected a token').regex(tokenPattern, tokenRule).nullable().prefault(null), {
    key: 'http.token',
    env: 'PETREL_HTTP_TOKEN',
    help: 'bearer token, instead of http.tokenFile',
    secret: true,
  }),
  httpTlsCert: setting(optionalPath(), {
    key: 'http.tls.cert',
    flags: '--http-tls-cert <file>',
    env: 'PETREL_HTTP_TLS_CERT',
    help: 'certificate (PEM file); turns on HTTPS',
    isPath: true,
    isFile: true,
  }),
  httpTlsKey: setting(optionalPath(), {
    key: 'http.tls.key',
    flags: '--http-tls-key <file>',
    env: 'PETREL_HTTP_TLS_KEY',
    help: 'key of the HTTPS certificate (PEM file)',
    isPath: true,
    isFile: true,
  }),
};

/** Declares the setting for the address of the HTTP server. The default is `fallback`. */
export function listen(fallback: string, defaultText: string) {
  return setting(parsedBy(parseListen, 'expected ADDRESS:PORT, or off').prefault(fallback), {
    key: 'http.listen',
    flags: '--listen <address>',
    env: 'PETREL_LISTEN',
    help: 'address for the HTTP server, ADDRESS:PORT, or off',
    defaultText,
  });
}
