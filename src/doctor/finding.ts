/** Results of checking a node and its group. */
import * as z from 'zod';

/**
 * note: useful to know. warning: works now, but will cause problems. error: does not work, or is open to
 * unauthorized users.
 */
export const severities = ['ok', 'note', 'warning', 'error'] as const;

export const findingSchema = z.object({
  check: z.string(),
  severity: z.enum(severities),
  what: z.string(),
  /** What the operator should do. Null if nothing is wrong. */
  todo: z.string().nullable(),
});
export type Finding = z.infer<typeof findingSchema>;

export function ok(check: string, what: string): Finding {
  return { check, severity: 'ok', what, todo: null };
}

export function finding(
  check: string,
  severity: Exclude<Finding['severity'], 'ok'>,
  what: string,
  todo: string,
): Finding {
  return { check, severity, what, todo };
}

/** Returns the findings, or a finding with severity `ok` if there are none. */
export function orOk(findings: readonly Finding[], check: string, what: string): Finding[] {
  return findings.length === 0 ? [ok(check, what)] : [...findings];
}
