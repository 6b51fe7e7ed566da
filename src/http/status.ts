/** What `/status` and the event `status` say: a listing, and when it was so. */

import type * as z from 'zod';
import { withAnswers } from '../group/judge.js';
import { listing, listingSchema } from '../group/listing.js';
import type { GroupView } from '../group/view.js';
import { instantSchema, toInstant } from '../model/names.js';

export const statusSchema = listingSchema.extend({
  /** On the ensemble's clock, by which all its instants and limits are. */
  asOf: instantSchema,
});
export type Status = z.infer<typeof statusSchema>;

/** `nowMs` is an instant on the ensemble's clock, milliseconds since the epoch. */
export async function statusOf(group: GroupView, nowMs: number): Promise<Status> {
  return await withAnswers(group, (view) => ({ asOf: toInstant(nowMs), ...listing(view, nowMs) }));
}
