/** Route for following the state of the group. */
import * as z from 'zod';
import type { App } from './app.js';
import { Denial, failures } from './failures.js';
import { type Groups, rootQuery } from './groups.js';
import { unread } from './route.js';

const maxReaders = 1_000;

export function addEvents(app: App, groups: Groups): void {
  app.add({
    ...unread,
    // A stream never ends, so HEAD is not supported.
    methods: ['GET'],
    path: '/events',
    summary:
      'server-sent events: `status` (same as /status) at once and on every change; `out-of-touch`; `refused`',
    tags: ['group'],
    query: rootQuery,
    responses: {
      200: { description: 'events', content: { 'text/event-stream': z.string() } },
      400: failures[400],
      404: failures[404],
      503: failures[503],
    },
    answer: ({ query }) => {
      const hub = groups.hub(query.root);
      if (groups.readers >= maxReaders) {
        throw new Denial(
          503,
          'TOO_MANY_READERS',
          `too many clients of /events: one agent serves at most ${maxReaders}`,
          {
            headers: { 'retry-after': '10' },
          },
        );
      }
      return { stream: (response) => hub.add(response) };
    },
  });
}
