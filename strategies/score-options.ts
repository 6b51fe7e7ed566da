/** Options common to all strategies that compare measurements. */
import * as z from 'zod';
import { nameSchema } from '../src/model/names.js';
import { requestsScore, type Score } from '../src/model/scores.js';

/** Amount by which another node must be better than the current leader. */
export interface Margin {
  /** The margin as it was written in the configuration. */
  readonly text: string;
  readonly isShare: boolean;
  /** Returns the margin for a leader with this value. */
  of(value: Score): number;
}

const marginRule =
  'expected the margin by which another node must be better: a percentage of the leader\'s value, such as "20%", or an amount in the unit of the score, such as 5';
const writtenShare = /^(\d{1,6}(?:\.\d{1,6})?) ?%$/;

const writtenMargin = z.custom<string | number>(isMargin, marginRule);

function isMargin(input: unknown): boolean {
  return typeof input === 'number' ? input >= 0 : typeof input === 'string' && writtenShare.test(input);
}

function readMargin(written: string | number): Margin {
  if (typeof written === 'number') return { text: String(written), isShare: false, of: () => written };
  const share = Number(writtenShare.exec(written)?.[1]) / 100;
  return { text: written, isShare: true, of: (value) => share * Math.abs(Number(value)) };
}

export const marginOption = writtenMargin.default('20%').transform(readMargin);
/** Option for the margin of one score. If this option is missing, the shared margin applies. */
export const ownMarginOption = writtenMargin.transform(readMargin).optional();

const widthRule =
  'expected a number of at least 0, in the unit of the score: values within one class of this width count as equal';
export const widthOption = z.number(widthRule).min(0, widthRule).default(0);

const sizeRule =
  'expected a whole number of at least 1: the number of nodes in the group, including nodes that are down';
/** Option for |N|, the number of nodes in the group. `groupSize` provides the default. */
export const sizeOption = z.int(sizeRule).min(1, sizeRule).optional();

/** Option for the name under which nodes report a score. */
export const scoreNameOption = nameSchema;

/** Default name of the score for the rate of client requests. */
export const usualLoad = requestsScore;
/** Default name of the score for the position that the log has reached. */
export const usualHistory = 'history';
