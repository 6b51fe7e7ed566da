/**
 * Parsed contents of a group's znodes. Most contents do not change between rounds, so the same bytes at the
 * same path are not parsed again. A result is reused only for the same bytes, so it is never stale.
 */

import { type Parsed, parseJson } from '../../model/names.js';
import { parseGroupConfig } from '../../model/read-config.js';
import { registrationSchema } from '../../model/registration.js';
import { claimSchema, electedSchema, historyHeadSchema, successorSchema } from '../../model/znodes.js';

/**
 * Parsers for one group and one agent. Their results are frozen, because the same result may be returned more
 * than once.
 */
export class Contents {
  readonly config = parsedOnce(parseGroupConfig);
  readonly elected = parsedOnce((text) => parseJson(electedSchema, text));
  readonly successor = parsedOnce((text) => parseJson(successorSchema, text));
  readonly claim = parsedOnce((text) => parseJson(claimSchema, text));
  readonly registration = parsedOnce((text) => parseJson(registrationSchema, text));
  readonly historyHead = parsedOnce((text) => parseJson(historyHeadSchema, text));
}

type Reading<T> = (path: string, data: Buffer) => Parsed<T>;

/**
 * Maximum number of remembered paths. Without this limit, nodes that join under new names and leave again
 * would add paths forever.
 */
const mostPaths = 1_000;

function parsedOnce<T>(parse: (text: string) => Parsed<T>): Reading<T> {
  const known = new Map<string, { readonly text: string; readonly parsed: Parsed<T> }>();
  return (path, data) => {
    const text = data.toString('utf8');
    const last = known.get(path);
    if (last?.text === text) return last.parsed;
    const parsed = frozen(parse(text));
    known.delete(path);
    known.set(path, { text, parsed });
    const [oldest] = known.keys();
    if (known.size > mostPaths && oldest !== undefined) known.delete(oldest);
    return parsed;
  };
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}
