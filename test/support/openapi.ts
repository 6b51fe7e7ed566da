/** Checks answers against the OpenAPI description that the HTTP interface serves. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { z } from 'zod';

const responseSchema = z.looseObject({
  content: z.record(z.string(), z.looseObject({ schema: z.looseObject({}) })).optional(),
});
const operationSchema = z.looseObject({ responses: z.record(z.string(), responseSchema) });
export const descriptionSchema = z.looseObject({
  openapi: z.string(),
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
});
export type Description = z.infer<typeof descriptionSchema>;

export interface Answered {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly type: string | null;
  /** Undefined if the answer had no body. */
  readonly body: unknown;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** Fails if the OpenAPI description does not list the answer, or describes it differently. */
export function expectDescribed(
  { paths }: Description,
  { method, path, status, type, body }: Answered,
): void {
  const template = Object.keys(paths).find((one) => matches(one, path));
  const operation = template === undefined ? undefined : paths[template]?.[method.toLowerCase()];
  const response = operation?.responses[String(status)];
  const described = { method, path, status, body };
  expect(response, `the description has no such answer: ${JSON.stringify(described)}`).toBeDefined();
  if (body === undefined) return;
  const schema = response?.content?.[(type ?? '').split(';')[0] ?? '']?.schema;
  expect(schema, `the description has no such content: ${type} ${JSON.stringify(described)}`).toBeDefined();
  const isRight = ajv.validate(schema ?? {}, body);
  expect(isRight ? [] : ajv.errors, JSON.stringify(described)).toEqual([]);
}

/**
 * Fails if the OpenAPI description lists the refused method, or if its set of methods differs from the
 * `Allow` header.
 */
export function expectOthersDescribed(
  { paths }: Description,
  { method, path, allow }: { readonly method: string; readonly path: string; readonly allow: string | null },
): void {
  const templates = Object.keys(paths).filter((one) => matches(one, path));
  const described = templates.flatMap((one) => Object.keys(paths[one] ?? {})).map((one) => one.toUpperCase());
  // GET implies HEAD. The description lists HEAD only where its answer differs from that of GET.
  const all =
    described.includes('GET') && path.split('?')[0] !== '/events' ? [...described, 'HEAD'] : described;
  expect((allow ?? '').split(', '), `${method} ${path}`).toEqual([...new Set(all)].toSorted());
  expect(all, `${method} ${path} is described, and refused`).not.toContain(method);
}

function matches(template: string, path: string): boolean {
  const pattern = template.replaceAll(/\{[^}]+\}/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(path.split('?')[0] ?? '');
}
