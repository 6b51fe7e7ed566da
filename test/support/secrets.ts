/**
 * Secrets that the tests give to the processes they start. Each secret contains the same word, which appears
 * nowhere else. If output contains that word, a secret has leaked.
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
