/** The examples of docs/reference/http.md run unchanged, except for the port. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startProcess } from '../support/agents.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { until } from '../support/until.js';

const text = readFileSync(fileURLToPath(new URL('../../docs/reference/http.md', import.meta.url)), 'utf8');
const lines = [...text.matchAll(/^```sh\n(.*?)^```$/gms)]
  .flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n'))
  .filter((line) => line !== '');

/** Runs an example. The stream of events never ends, so stops it after its first events. */
function run(line: string, cwd: string, place: string): Promise<string> {
  const here = line.replaceAll('127.0.0.1:8008', place);
  const limited = line.includes('/events') ? here.replace('curl', 'curl --max-time 2') : here;
  return promisify(execFile)('/bin/sh', ['-c', limited], { cwd }).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string }) => error.stdout ?? '',
  );
}

it('the examples of docs/reference/http.md do what they are said to do', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'petrel-docs-'));
  try {
    const [serve, ...examples] = lines;
    expect(serve).toContain('petrel agent --listen');
    const secret = examples.find((line) => line.startsWith('openssl')) ?? '';
    await run(secret, dir, '');
    const env = { PETREL_ZOOKEEPER: await sharedZooKeeper(), PETREL_ROOT: uniqueRoot('docs') };
    await using a1 = await startProcess(['agent', '--node-id', 'a1', '--site', 'a', '--priority', '200'], {
      ...env,
      PETREL_LISTEN: '127.0.0.1:0',
      PETREL_HTTP_TOKEN_FILE: join(dir, 'token'),
    });
    const place = String((await a1.logged(/^HTTP server listening on/)).url).replace('http://', '');
    await a1.logged(/^READY/);
    await using b1 = await startProcess(['agent', '--node-id', 'b1', '--site', 'b'], env);
    await b1.logged(/^joined/);
    const answers = new Map<string, string>();
    for (const line of examples.filter((one) => one !== secret))
      answers.set(line, await run(line, dir, place));
    const answerTo = (part: string) => [...answers].find(([line]) => line.includes(part))?.[1] ?? '';
    expect(answerTo('/leader')).toContain('"leads":true');
    expect(answerTo('/status')).toBe('"a1"\n');
    expect(JSON.parse(answerTo('/explain'))).toMatchObject({ node: 'b1' });
    expect(answerTo('/events')).toContain('event: status');
    expect(answerTo('/switchover')).toMatch(/^HTTP\/1\.1 202 (.|\r|\n)*location: \/terms\/2/);
    await until(async () =>
      (await run('curl -s http://127.0.0.1:8008/status', dir, place)).includes('"leader":{"node":"b1"'),
    );
  } finally {
    rmSync(dir, { recursive: true });
  }
});
