import { expect, it } from 'vitest';
import { withoutSecrets } from '../../src/hooks/secret-variables.js';

it('hides secrets from commands, and neither other variables nor the secrets of the agent itself', () => {
  const secrets = {
    PETREL_AUTH: 'agents:a',
    PETREL_TLS_PASSPHRASE: 'b',
    PETREL_HTTP_TOKEN: 'c',
    PETREL_PROBE_SECRET: 'd',
  };
  const others = { PATH: '/bin', PETREL_NODE: 'a1', PETREL_AUTH_FILE: '/etc/petrel/auth' };
  const own = { ...others, ...secrets };
  expect(withoutSecrets(own)).toEqual(others);
  expect(own).toEqual({ ...others, ...secrets });
});
