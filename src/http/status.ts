/** What `/status` and the event `status` say: a listing, and when it was so. */
import type * as z from 'zod';
import { instantSchema, toInstant } from '../core/names.js';
import { listing, listingSchema } from '../group/listing.js';
import type { GroupView } from '../group/view.js';

export const statusSchema = listingSchema.extend({
  /** On the ensemble's clock, by which all its instants and limits are. */
  asOf: instantSchema,
});
export type Status = z.infer<typeof statusSchema>;

/** `nowMs` is an instant on the ensemble's clock, milliseconds since the epoch. */
export function statusOf(view: GroupView, nowMs: number): Status {
  return { asOf: toInstant(nowMs), ...listing(view, nowMs) };
}
