/** Errors about a group, in terms that the user can act on. */
import * as z from 'zod';
import { errorMessage, PetrelError, type Remedy } from '../errors.js';
import { isPermissionError, isStoreError, type StoreError } from '../ports/store.js';

/** An error, as reported by commands with `-f json` and by the HTTP interface. */
export const failureSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), reasons: z.array(z.string()) }),
});
export type Failure = z.infer<typeof failureSchema>;

/**
 * Returns the error as a report. `words` converts a remedy to text. The remedies come last among the reasons.
 */
export function failureReport(error: PetrelError, words: (remedy: Remedy) => string): Failure['error'] {
  const { code, message, reasons, remedies } = error;
  return { code, message, reasons: [...reasons, ...remedies.map(words)] };
}

/** Converts any thrown value to a PetrelError. */
export function asPetrelError(error: unknown): PetrelError {
  if (error instanceof PetrelError) return error;
  if (isStoreError(error)) return fromStore(error);
  return new PetrelError('FAILED', errorMessage(error), { cause: error });
}

function fromStore(error: StoreError): PetrelError {
  if (isPermissionError(error)) {
    const message = `permission denied by ZooKeeper: ${error.message}`;
    const remedies = [{ kind: 'credentials', refused: error.identities }] as const;
    return new PetrelError('FORBIDDEN', message, { cause: error, remedies });
  }
  if (error.outcomeUnknown) {
    return new PetrelError('UNREACHABLE', `connection to ZooKeeper lost: ${error.message}`, { cause: error });
  }
  return new PetrelError('FAILED', error.message, { cause: error });
}
