/**
 * Secrets that the tests give to what they start. Each holds the same word, which stands nowhere else: where
 * it appears in what was written, a secret was told.
 */
export const canary = 'kAnArY7Xq2';

export const secrets = {
  /** USER:PASSWORD of each role. */
  zooKeeper: {
    agents: `petrel:${canary}-agents`,
    operators: `ops:${canary}-operators`,
    observers: `eye:${canary}-observers`,
  },
  httpToken: `${canary}-http-token`,
  probe: `${canary}-probe-secret`,
  passphrase: `${canary}-passphrase`,
} as const;
