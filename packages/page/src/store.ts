/** All data that the page has, kept up to date while the page is open. */
import { Api, textOf } from './api.js';
import { readEvents, type ServerEvent } from './events.js';
import { broken, type Link, noLink, received, silenceMs } from './link.js';
import { nextQueries } from './next.js';
import {
  type AgentInfo,
  agentInfoShape,
  type ChangeAnswer,
  type Explanation,
  explanationShape,
  type History,
  historyShape,
  outOfTouchShape,
  type Status,
  statusShape,
  termShape,
} from './schemas.js';
import { isSeveral } from './slots.js';
import { historyKey } from './timeline.js';
import { type ObservedTransitions, observeAll } from './transition-steps.js';
import { type LeaderlessSlots, leaderlessSlots } from './verdict.js';

export interface Picture {
  readonly status: Status;
  /** Instant at which the status arrived, on the page's own monotonic clock. */
  readonly cameAtMs: number;
  readonly leaderless: LeaderlessSlots;
}

/** A change that the operator made. The page shows it until the operator dismisses it. */
export interface Done {
  readonly what: string;
  /** The slot of the term. Null if the group has only one slot. */
  readonly slot: number | null;
  readonly term: number | null;
  /** Result of the change. Null while there is none. */
  readonly outcome: string | null;
}

export interface Known {
  readonly link: Link;
  readonly picture: Picture | null;
  readonly observed: ObservedTransitions;
  /** One explanation per slot, in order. Empty if they are not known yet. */
  readonly explanations: readonly Explanation[];
  readonly history: History | null;
  /** The agent that serves the page. Null until it is known. */
  readonly agent: AgentInfo | null;
  readonly done: Done | null;
  /** Whether the agent serves a different version of the page. */
  readonly outdated: boolean;
}

const retryMs = 1_000;
const watchMs = 1_000;
/** Shortest time between two requests for the same data. */
const restMs = 1_000;
/** Interval between reads of the agent's own state and of the ensemble's health. */
const agentMs = 10_000;
const records = 50;

export class Store {
  readonly api = new Api();
  readonly #listeners = new Set<() => void>();
  readonly #explain = new Latest(() => this.#readExplanation());
  readonly #history = new Latest(() => this.#readHistory());
  readonly #page: string;
  #known: Known = {
    link: noLink,
    picture: null,
    observed: new Map(),
    explanations: [],
    history: null,
    agent: null,
    done: null,
    outdated: false,
  };
  #receivedAtMs = 0;

  /**
   * `page` identifies the version of this page. The store compares it with the version that the agent serves.
   */
  constructor(page: string) {
    this.#page = page;
  }

  get known(): Known {
    return this.#known;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  didChange({ what, term, slot }: ChangeAnswer): void {
    const { picture } = this.#known;
    const isNamed = picture !== null && isSeveral(picture.status);
    this.#set({ done: { what, slot: isNamed ? slot : null, term, outcome: null } });
    void this.#followTerm();
  }

  dismiss(): void {
    this.#set({ done: null });
  }

  /** Keeps the data up to date while the page is open. The promise never resolves. */
  async run(): Promise<never> {
    void this.#readAgent();
    setInterval(() => void this.#readAgent(), agentMs);
    for (;;) {
      const attempt = new AbortController();
      this.#receivedAtMs = performance.now();
      const watch = setInterval(() => this.#endSilence(attempt), watchMs);
      try {
        await readEvents(
          { received: () => this.#received(), event: (event) => this.#take(event) },
          attempt.signal,
        );
      } catch (error) {
        this.#set({ link: broken(this.#known.link, 'lost', textOf(error)) });
      } finally {
        clearInterval(watch);
        attempt.abort();
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }

  #endSilence(attempt: AbortController): void {
    if (performance.now() - this.#receivedAtMs > silenceMs)
      attempt.abort(new Error('no message from the agent'));
  }

  #received(): void {
    this.#receivedAtMs = performance.now();
    this.#set({ link: received(this.#known.link, this.#receivedAtMs) });
  }

  #take({ event, data }: ServerEvent): void {
    if (event === 'status') this.#takeStatus(statusShape.safeParse(JSON.parse(data)).data);
    if (event === 'out-of-touch' || event === 'refused') {
      const reason = outOfTouchShape.safeParse(JSON.parse(data)).data?.reason ?? 'no reason given';
      this.#set({ link: broken(this.#known.link, event, reason) });
    }
  }

  #takeStatus(status: Status | undefined): void {
    if (status === undefined)
      throw new Error('this page does not understand the agent’s message: reload the page');
    const before = this.#known.picture;
    if (this.#known.link.state === 'lost') void this.#checkPage();
    const cameAtMs = performance.now();
    this.#set({
      picture: { status, cameAtMs, leaderless: leaderlessSlots(before, status) },
      link: { state: 'live', heldAtMs: cameAtMs, reason: '' },
      observed: observeAll(this.#known.observed, status),
    });
    this.#explain.want();
    if (before === null || historyKey(before.status) !== historyKey(status)) this.#history.want();
    void this.#followTerm();
  }

  async #readExplanation(): Promise<void> {
    const status = this.#known.picture?.status;
    if (status === undefined) return;
    const requests = nextQueries(status).map((query) => this.api.get(query, explanationShape));
    const answers = await Promise.all(requests);
    const explanations = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
    if (explanations.length > 0) this.#set({ explanations });
  }

  async #readHistory(): Promise<void> {
    const answer = await this.api.get(`/history?n=${records}`, historyShape);
    if (answer.ok) this.#set({ history: answer.value });
  }

  async #readAgent(): Promise<void> {
    const answer = await this.api.get('/agent', agentInfoShape);
    if (answer.ok) this.#set({ agent: answer.value });
  }

  async #followTerm(): Promise<void> {
    const { done } = this.#known;
    if (done === null || done.term === null || done.outcome !== null) return;
    const answer = await this.api.get(
      `/terms/${done.term}${done.slot === null ? '' : `?slot=${done.slot}`}`,
      termShape,
    );
    const outcome = answer.ok ? answer.value.outcome : null;
    if (outcome === null || this.#known.done !== done) return;
    const text = outcome.state === 'READY' ? `${outcome.node} leads` : `${outcome.state}: ${outcome.reason}`;
    this.#set({ done: { ...done, outcome: text } });
  }

  async #checkPage(): Promise<void> {
    const tag = await fetch('./', { method: 'HEAD' }).then(
      (response) => response.headers.get('etag'),
      () => null,
    );
    if (tag !== null && !tag.includes(this.#page)) this.#set({ outdated: true });
  }

  #set(change: Partial<Known>): void {
    this.#known = { ...this.#known, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** Runs one read at a time. If another read is requested in the meantime, runs it afterwards. */
class Latest {
  readonly #read: () => Promise<void>;
  #busy = false;
  #wanted = false;

  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  want(): void {
    this.#wanted = true;
    if (!this.#busy) void this.#run();
  }

  async #run(): Promise<void> {
    this.#busy = true;
    while (this.#wanted) {
      this.#wanted = false;
      await this.#read();
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
    this.#busy = false;
  }
}
