/** Routes of the HTTP interface, and what each of them accepts and returns. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import * as z from 'zod';

/** The parts of a request that are known before its parameters and its body are read. */
export interface Head {
  readonly method: string;
  /** Path and query, as the client sent them. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Address of the client. */
  readonly ip: string;
}

export interface Request<Params, Query, Body> extends Head {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
}

interface Part {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * JSON is encoded with the schema for the status of the answer. For other content, the headers contain the
 * content type.
 */
export type Answer =
  | (Part & { readonly json: unknown })
  | (Part & { readonly content: string | Buffer })
  | { readonly stream: (response: ServerResponse) => void };

/**
 * Schemas of the answers, keyed by status. JSON has one schema. Other content has a schema for each content
 * type.
 */
export type Responses = Readonly<Record<number, z.ZodType | OtherContent>>;
export interface OtherContent {
  readonly description: string;
  readonly content: Readonly<Record<string, z.ZodType>>;
}

/** A route: its methods, and its path with `:NAME` for parameters. */
export interface Place {
  readonly methods: readonly string[];
  readonly path: string;
}

/** The parts of a route that the OpenAPI description contains. */
export interface Described extends Place {
  /** Summary of the route. Without a summary, the route is not described. */
  readonly summary?: string;
  readonly tags?: readonly string[];
  /** Whether the route requires the token. */
  readonly secured?: boolean;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  readonly responses: Responses;
}

export interface Route<Params, Query, Body> extends Described {
  readonly params: z.ZodType<Params>;
  readonly query: z.ZodType<Query>;
  readonly body: z.ZodType<Body>;
  /** Throws to reject a request before its body is read. */
  readonly authorize?: (head: Head) => void;
  answer(request: Request<Params, Query, Body>): Answer | Promise<Answer>;
}

/** Methods of a route that only reads. */
export const reading: readonly string[] = ['GET', 'HEAD'];

/** Schemas for the parts of a request that a route does not read. They accept anything. */
export const unread = { params: z.unknown(), query: z.unknown(), body: z.unknown() } as const;

/** Returns the parameters in a path. Returns null if the path does not belong to the route. */
export function paramsAt({ path }: Place, given: string): Readonly<Record<string, string>> | null {
  const [parts, values] = [path.split('/'), given.split('/')];
  if (parts.length !== values.length) return null;
  const params: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const value = values[at] ?? '';
    if (!part.startsWith(':')) {
      if (part !== value) return null;
      continue;
    }
    const decoded = decode(value);
    if (decoded === null) return null;
    params[part.slice(1)] = decoded;
  }
  return params;
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
