/**
 * Environment variables that contain secrets. Petrel removes them from the environment of the commands and
 * helper processes that it starts. The supervisor loads this module, so the module depends only on Node.js.
 */

/**
 * A variable that only names a file with a secret is not listed here, because the file has its own
 * protection.
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
