/** Text that the page shows about a token that the agent has rejected. */
import type { Failed } from './api.js';

/**
 * Returns the text to show. If the token was rejected, the text says what the operator can do. It replaces
 * the agent's own message, which is meant for programs.
 */
export function refusalText({ status, message }: Failed): string {
  if (status !== 401) return message;
  return 'This is not the token of this agent. The token is in the file that the agent’s setting http.tokenFile names, or in its variable PETREL_HTTP_TOKEN.';
}
