/**
 * The secret for a group's probes. Agents read the secret only from a file or from the environment, and never
 * show it.
 */
import * as z from 'zod';

export const probeSecretRule = 'expected a secret of 16 to 1024 characters';
export const probeSecretSchema = z
  .string(probeSecretRule)
  .min(16, probeSecretRule)
  .max(1024, probeSecretRule);
