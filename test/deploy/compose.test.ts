/**
 * Checks docker-compose.yml as far as this is possible without Docker: its agents accept the settings in it.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { runProcess } from '../support/agents.js';

const file = fileURLToPath(new URL('../../docker-compose.yml', import.meta.url));
const composeSchema = z.object({
  services: z.record(
    z.string(),
    z.object({
      environment: z.record(z.string(), z.coerce.string()),
      ports: z.array(z.string()).default([]),
    }),
  ),
});

it('docker-compose.yml gives its agents settings that they take', async () => {
  const { services } = composeSchema.parse(parse(readFileSync(file, 'utf8'), { merge: true }));
  const agents = Object.entries(services).filter(([, { environment }]) => 'PETREL_NODE_ID' in environment);
  expect(agents.map(([name]) => name)).toEqual(['a1', 'a2', 'b1', 'b2']);
  for (const [index, [name, { environment, ports }]] of agents.entries()) {
    expect(environment.PETREL_NODE_ID).toBe(name);
    // Only this machine may open the page, because changes need no more than the token.
    expect(ports).toEqual([`127.0.0.1:${8008 + index}:${environment.PETREL_LISTEN?.split(':')[1]}`]);
    // Compose writes a dollar sign as `$$`, and replaces `${NAME:-DEFAULT}`.
    const env = Object.fromEntries(
      Object.entries(environment).map(([key, text]) => [
        key,
        text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1').replaceAll('$$', '$'),
      ]),
    );
    const { code, stdout, stderr } = await runProcess(['agent', '--dry-run'], env);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('zk1:2181,zk2:2181,zk3:2181');
  }
});
