/**
 * Checks that each answer to a client was true at some instant between request and response.
 *
 * The client syncs before it reads, so an answer must not be older than its request. There is one exception.
 * A server that is frozen, or that is cut off while it leads the ensemble, syncs with no other server. Its
 * answers may be as old as the fault.
 */
import type { Answer, Run } from '../records.js';
import type { Claim } from './claims.js';
import type { FaultSpan } from './leaderless.js';
import { inSlot, type Violation } from './violation.js';

/** Period in which only one answer to a client is right. */
interface Truth {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

const nobody = 'nobody leads';

export function untrueAnswers(
  answers: readonly Answer[],
  claims: readonly Claim[],
  faults: readonly FaultSpan[],
  run: Run,
): Violation[] {
  const slots = new Set(answers.map(({ slot }) => slot));
  return [...slots].flatMap((slot) => {
    const ofIt = <T extends { slot: number }>(all: readonly T[]) => all.filter((one) => one.slot === slot);
    return untrueOfSlot(ofIt(answers), ofIt(claims), faults, run);
  });
}

function untrueOfSlot(
  answers: readonly Answer[],
  claims: readonly Claim[],
  faults: readonly FaultSpan[],
  run: Run,
): Violation[] {
  const truths = new Map<string, Truth[]>();
  for (const truth of truthsOf(claims)) truths.set(truth.name, [...(truths.get(truth.name) ?? []), truth]);
  return answers.flatMap((answer) => {
    if (answer.error !== null) return [];
    const { leader, slot, answeredAtMs: atMs } = answer;
    const name = leader === null ? nobody : nameOf(leader);
    const wrong = whyWrong(answer, truths.get(name) ?? [], faults, run);
    return wrong === null
      ? []
      : [{ rule: 'answers are true', what: `a client read${inSlot(slot)} that ${name}, ${wrong}`, atMs }];
  });
}

/** Returns why an answer is wrong. Null if it is right. */
function whyWrong(
  { requestedAtMs, answeredAtMs }: Answer,
  truths: readonly Truth[],
  faults: readonly FaultSpan[],
  { slackMs, ensembleMs }: Run,
): string | null {
  const begun = truths.filter(({ fromMs }) => fromMs <= answeredAtMs + slackMs);
  if (begun.length === 0) return truths.length === 0 ? 'which never was so' : 'which was so only later';
  const untilMs = Math.max(...begun.map(({ toMs }) => toMs));
  if (untilMs >= requestedAtMs - slackMs) return null;
  const isPermitted = faults.some(({ ensemble, fromMs, toMs }) => {
    return ensemble && fromMs <= untilMs + slackMs && requestedAtMs <= toMs + ensembleMs;
  });
  return isPermitted ? null : `which was so no more for ${((requestedAtMs - untilMs) / 1000).toFixed(1)} s`;
}

function nameOf({ node, status, token }: { node: string; status: string; token: string }): string {
  return `${node} is ${status} under token ${token}`;
}

function truthsOf(claims: readonly Claim[]): Truth[] {
  const inTime = claims.toSorted((one, other) => one.atMs - other.atMs);
  const free = [null, ...inTime].map((claim, index) => ({
    name: nobody,
    fromMs: claim === null ? Number.NEGATIVE_INFINITY : (claim.endedAtMs ?? Number.POSITIVE_INFINITY),
    toMs: inTime[index]?.atMs ?? Number.POSITIVE_INFINITY,
  }));
  const held = inTime.flatMap(({ node, token, atMs, readyAtMs, endedAtMs }) => {
    const endMs = endedAtMs ?? Number.POSITIVE_INFINITY;
    const progress = {
      name: nameOf({ node, status: 'PROGRESS', token }),
      fromMs: atMs,
      toMs: readyAtMs ?? endMs,
    };
    if (readyAtMs === null) return [progress];
    return [progress, { name: nameOf({ node, status: 'READY', token }), fromMs: readyAtMs, toMs: endMs }];
  });
  return [...free, ...held];
}
