/**
 * Environment variables that no process started by Petrel receives. The supervisor runs this code, so it
 * needs only Node.js.
 */

/**
 * Variables that contain a secret themselves. Variables that name a file with a secret are passed on, because
 * the file has its own protection.
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
