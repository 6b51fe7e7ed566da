/** Compares the fencing tokens in ZooKeeper with the tokens that the node's agent remembers. */
import { goneBack } from '../slots/seen-tokens.js';
import { type Facts, isProblem } from './facts.js';
import { type Finding, finding, orOk } from './finding.js';

export function checkTokens({ group, node: { seenTokens } }: Facts): Finding[] {
  const check = 'tokens';
  if (seenTokens === null) return [];
  if (isProblem(seenTokens)) {
    return [
      finding(
        check,
        'error',
        seenTokens.problem,
        'run doctor as the agent’s user; the agent does not start if it cannot read this file',
      ),
    ];
  }
  if (isProblem(group)) return [];
  const findings = group.tokens.flatMap((token) => {
    const found = goneBack(seenTokens, token, false);
    return found === null ? [] : [finding(check, 'error', found.what, found.todo)];
  });
  return orOk(findings, check, 'no fencing token is lower than one that this node has seen');
}
