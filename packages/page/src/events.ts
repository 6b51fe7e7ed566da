/**
 * The group as it changes, read from `/events`. Not by EventSource: that one tells nothing of the comments by
 * which the agent shows that it lives, so a dead connection would look like a quiet group.
 */

import { ofGroup } from './root.js';
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Takes the stream piece by piece, as it arrives; gives the events that each piece completes. */
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
  /** Something came, if only a sign of life. */
  heard(): void;
  event(event: ServerEvent): void;
}

/** Until the agent or the network ends it. Rejects with why; never resolves in another way. */
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
    handler.heard();
    for (const event of parser.push(value)) handler.event(event);
  }
}
