/** Describes the HTTP interface in the format of OpenAPI 3.1. */
import * as z from 'zod';
import { version } from '../version.js';
import { type Described, type OtherContent, reading } from './route.js';

type Json = Readonly<Record<string, unknown>>;

export function describe(routes: readonly Described[]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    if (route.summary === undefined) continue;
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    const operations = paths[path] ?? {};
    // HEAD is implied by GET.
    const methods = route.methods === reading ? ['GET'] : route.methods;
    for (const method of methods) operations[method.toLowerCase()] = operation(route);
    paths[path] = operations;
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Petrel agent', version },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    paths,
  };
}

function operation({ summary, tags, secured, params, query, body, responses }: Described): Json {
  const parameters = [...parametersIn('path', params), ...parametersIn('query', query)];
  return {
    summary,
    tags,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(isRead(body) ? { requestBody: requestBody(body) } : {}),
    responses: Object.fromEntries(Object.entries(responses).map(([status, one]) => [status, response(one)])),
    ...(secured ? { security: [{ token: [] }] } : {}),
  };
}

function requestBody(schema: z.ZodType): Json {
  // A request without a body counts as one with an empty object.
  const required = !schema.safeParse({}).success;
  return { required, content: contents({ 'application/json': schema }, 'input') };
}

const objectSchema = z.object({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  required: z.array(z.string()).default([]),
});

function parametersIn(place: 'path' | 'query', schema: z.ZodType): Json[] {
  if (!isRead(schema)) return [];
  const { properties, required } = objectSchema.parse(jsonSchema(schema, 'input'));
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    in: place,
    name,
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}

function response(answer: z.ZodType | OtherContent): Json {
  return answer instanceof z.ZodType
    ? { description: 'JSON', content: contents({ 'application/json': answer }, 'output') }
    : { description: answer.description, content: contents(answer.content, 'output') };
}

function contents(types: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output'): Json {
  return Object.fromEntries(
    Object.entries(types).map(([type, schema]) => [type, { schema: jsonSchema(schema, io) }]),
  );
}

/** The result omits some checks, for example that two fields are mutually exclusive. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return described;
}

function isRead(schema: z.ZodType): boolean {
  return !(schema instanceof z.ZodUnknown);
}
