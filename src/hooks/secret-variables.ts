/**
 * What nothing that Petrel starts finds in its environment. The supervisor runs this, so it needs nothing but
 * Node.js.
 */

/**
 * Variables that hold a secret itself. Those that name a file with one are let through: the file has its own
 * guard.
 */
export const secretVariables = [
  'PETREL_AUTH',
  'PETREL_TLS_PASSPHRASE',
  'PETREL_HTTP_TOKEN',
  'PETREL_PROBE_SECRET',
] as const;

export function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const rest = { ...env };
  for (const name of secretVariables) delete rest[name];
  return rest;
}
