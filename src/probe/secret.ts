/**
 * The secret of a group's probes. Agents read it only from a file or the environment. It is never shown.
 */
import * as z from 'zod';

export const probeSecretRule = 'expected a secret of 16 to 1024 characters';
export const probeSecretSchema = z
  .string(probeSecretRule)
  .min(16, probeSecretRule)
  .max(1024, probeSecretRule);
