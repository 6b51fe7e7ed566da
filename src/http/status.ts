/**
 * Content of `/status` and of the `status` event: a listing, and the time at which the listing was created.
 */

import type * as z from 'zod';
import { withAnswers } from '../group/judge.js';
import { listing, listingSchema } from '../group/listing.js';
import type { GroupView } from '../group/view.js';
import { instantSchema, toInstant } from '../model/names.js';

export const statusSchema = listingSchema.extend({
  /**
   * Time that the status describes. Like all instants and deadlines in the status, it is on the ensemble's
   * clock.
   */
  asOf: instantSchema,
});
export type Status = z.infer<typeof statusSchema>;

/** Builds the status. `nowMs` is an instant on the ensemble's clock, in milliseconds since the epoch. */
export async function statusOf(group: GroupView, nowMs: number): Promise<Status> {
  return await withAnswers(group, (view) => ({ asOf: toInstant(nowMs), ...listing(view, nowMs) }));
}
