/**
 * Reads the changes of the group from `/events`. EventSource is not used, because it does not report the
 * comments that the agent sends as heartbeats. A dead connection would therefore look like a quiet group.
 */

import { ofGroup } from './root.js';
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Parses the stream piece by piece. For each piece, returns the events that it completes. */
export class EventParser {
  #rest = '';

  push(piece: string): ServerEvent[] {
    const blocks = `${this.#rest}${piece}`.split('\n\n');
    this.#rest = blocks.pop() ?? '';
    return blocks.flatMap(eventOf);
  }
}

function eventOf(block: string): ServerEvent[] {
  const lines = block.split('\n');
  const field = (name: string) =>
    lines.flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []));
  const data = field('data');
  const event = field('event')[0];
  return event === undefined || data.length === 0 ? [] : [{ event, data: data.join('\n') }];
}

export interface EventsHandler {
  /** Called when data has arrived, even if the data is only a heartbeat. */
  received(): void;
  event(event: ServerEvent): void;
}

/**
 * Reads events until the agent or the network ends the stream. The promise never resolves. It rejects with
 * the reason why the stream ended.
 */
export async function readEvents(handler: EventsHandler, signal: AbortSignal): Promise<never> {
  const response = await fetch(`.${ofGroup('/events')}`, {
    headers: { accept: 'text/event-stream' },
    signal,
  });
  if (!response.ok || response.body === null)
    throw new Error(`the agent responded with status ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new EventParser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error('the agent closed the connection');
    handler.received();
    for (const event of parser.push(value)) handler.event(event);
  }
}
