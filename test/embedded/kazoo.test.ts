/**
 * Tests with the Python client kazoo and its recipes, an independent implementation. To install it on Debian:
 * apt-get install python3-kazoo.
 */
import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';

const script = fileURLToPath(new URL('kazoo_client.py', import.meta.url));
const python = ['python3', '/usr/bin/python3'].find(
  (each) => spawnSync(each, ['-c', 'import kazoo']).status === 0,
);
const cases = [
  'znodes',
  'watches',
  'transactions',
  'auth',
  'lock',
  'election',
  'party_and_counter',
  'reconnection',
];

let server: DevelopmentServer;

beforeEach(async () => {
  server = await startDevelopmentServer();
});

afterEach(async () => {
  await server.close();
});

const missing = python === undefined ? ' (not here: no Python that has kazoo)' : '';

describe.skipIf(python === undefined)(`kazoo against the development server${missing}`, () => {
  it.each(cases)('%s', async (name) => {
    const run = promisify(execFile)(python ?? '', [script, server.connectString, name], { timeout: 300_000 });
    // A test case prints a line when it needs its connections broken.
    run.child.stdout?.once('data', () => server.dropConnections());
    await expect(run).resolves.toBeDefined();
  });
});
