/** Sends calls to the agent that served the page. The token is kept only in memory. */
import type * as z from 'zod/mini';
import type { Call } from './actions.js';
import { ofGroup } from './root.js';
import { type ChangeAnswer, changeAnswerShape, failureShape } from './schemas.js';

export type Answer<T> = { readonly ok: true; readonly value: T } | Failed;

export interface Failed {
  readonly ok: false;
  /** The HTTP status. 0 means that the page received no response, or could not interpret it. */
  readonly status: number;
  readonly message: string;
  readonly reasons: readonly string[];
}

export class Api {
  #token: string | null = null;

  get hasToken(): boolean {
    return this.#token !== null;
  }

  useToken(token: string): void {
    this.#token = token;
  }

  /** Reads from the agent. The promise never rejects. */
  get<T>(path: string, shape: z.ZodMiniType<T>): Promise<Answer<T>> {
    return ask(path, {}, shape);
  }

  /** Returns the effect that the change would have, without writing anything. The promise never rejects. */
  preview(call: Call): Promise<Answer<ChangeAnswer>> {
    return this.#change(call, { dryRun: true });
  }

  /**
   * Makes the change. With `yes`, the agent makes the change even if no node would lead. The promise never
   * rejects.
   */
  change(call: Call, yes: boolean): Promise<Answer<ChangeAnswer>> {
    return this.#change(call, yes ? { yes: true } : {});
  }

  async #change({ method, path, body }: Call, more: object): Promise<Answer<ChangeAnswer>> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${this.#token ?? ''}` };
    const init = { method, headers, body: JSON.stringify({ ...body, ...more }) };
    const answer = await ask(path, init, changeAnswerShape);
    if (!answer.ok && answer.status === 401) this.#token = null;
    return answer;
  }
}

const patienceMs = 15_000;

async function ask<T>(path: string, init: RequestInit, shape: z.ZodMiniType<T>): Promise<Answer<T>> {
  try {
    // The address is relative to the page, because a proxy may serve the page under any path.
    const response = await fetch(`.${ofGroup(path)}`, { ...init, signal: AbortSignal.timeout(patienceMs) });
    const body: unknown = await response.json();
    if (!response.ok) return failed(response.status, body);
    const read = shape.safeParse(body);
    return read.success ? { ok: true, value: read.data } : notUnderstood;
  } catch (error) {
    return { ok: false, status: 0, message: `no response: ${textOf(error)}`, reasons: [] };
  }
}

function failed(status: number, body: unknown): Failed {
  const read = failureShape.safeParse(body);
  if (!read.success) return { ...notUnderstood, status };
  const { message, reasons } = read.data.error;
  return { ok: false, status, message, reasons };
}

const notUnderstood: Failed = {
  ok: false,
  status: 0,
  message: 'this page does not understand the agent’s response: reload the page',
  reasons: [],
};

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
