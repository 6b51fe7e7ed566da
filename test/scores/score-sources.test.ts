/** Each kind of score source, with real processes and a real HTTP server. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Measurements } from '../../src/scores/measurements.js';
import { ScoreSources } from '../../src/scores/score-sources.js';
import { scoreSourcesSchema } from '../../src/scores/source.js';
import { bench, eventually, machine } from '../hooks/support.js';

const at = bench();

let server: Server;
let address: string;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
beforeEach(async () => {
  server = createServer((request, response) => answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  address = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}/score`;
});

let running: ScoreSources | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
  server.closeAllConnections();
  server.close();
});

/** Short times for sources that do not set others. */
const quick = { every: '100ms', timeout: '1s', maxAge: '2s' };
const read = (sources: Record<string, object>) =>
  scoreSourcesSchema.parse(
    Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, { ...quick, ...source }])),
  );

function measure(sources: Record<string, object>) {
  const measurements = new Measurements();
  const log: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const { level, msg }: { level: number; msg: string } = JSON.parse(chunk.toString('utf8'));
      if (level >= 30) log.push(msg);
      done();
    },
  });
  const shared = { node: 'a1', root: '/cluster', site: 'a', measurements, ...machine };
  running = new ScoreSources(read(sources), { ...shared, log: pino({}, sink) });
  return { log, sources: running, measurements, value: (name = 'x') => measurements.values.get(name) };
}

/** Times that are longer than any machine needs. */
const patient = { timeout: '10m', maxAge: '1h' };

/** Returns a short timeout if the test expects a timeout. Otherwise returns a patient one. */
function timeFor(complaint: string): { timeout: string; maxAge: string } {
  return complaint.includes('timed out after 300 ms') ? { ...patient, timeout: '300ms' } : patient;
}

/** Returns the warning that a failing source logs. Checks that the source logs it exactly once. */
async function complaint(source: object): Promise<string> {
  const { log, value } = measure({ x: source });
  await eventually(() => log).toHaveLength(1);
  expect(value()).toBeUndefined();
  const line = /^cannot measure score x \(its last value remains valid for at most \d+ s\): (.*)$/s.exec(
    log[0] ?? '',
  );
  return line?.[1] ?? `${log[0]}`;
}

describe('a command', () => {
  it('writes a number, all 64 bits of which are kept', async () => {
    const { value, log } = measure({
      x: { ...patient, command: 'echo 9223372036854775807' },
      y: { ...patient, command: ['/bin/echo', '0.5'] },
      z: { ...patient, command: 'echo "$PETREL_NODE $PETREL_SCORE $PETREL_PHASE" >&2; echo; echo 3' },
    });
    await eventually(() => [value('x'), value('y'), value('z')]).toEqual([9223372036854775807n, 0.5, 3]);
    expect(log).toEqual([]);
  });

  it('knows for which score of which node it runs', async () => {
    const { value } = measure({
      x: { command: 'test "$PETREL_NODE $PETREL_SCORE $PETREL_PHASE" = "a1 x score" && echo 1' },
    });
    await eventually(value).toBe(1);
  });

  it.each([
    ['true', 'scores.x: the command printed nothing: the command must print one number'],
    [
      'echo fast',
      'scores.x: output of the command: expected one number, found "fast": the command must print one number',
    ],
    ['echo 1; echo 2', 'scores.x: the command printed 2 lines: the command must print one number'],
    ['echo 7; echo no disk >&2; exit 3', 'scores.x exited with code 3: no disk'],
    ['kill -9 $$', 'scores.x was killed by SIGKILL'],
    ['head -c 100000 /dev/zero', 'scores.x: output of the command: '],
    ['yes', 'scores.x timed out after 300 ms'],
    ['no-such-program', 'scores.x exited with code 127'],
  ])('that fails says how, once: %s', async (command, right) => {
    expect(await complaint({ command, ...timeFor(right) })).toContain(right);
  });

  it('that hangs is killed at its limit, with all that it started', async () => {
    const { log } = measure({
      x: { command: 'trap "" TERM; sleep 999 & sleep 999', timeout: '1s', every: '10m', maxAge: '1h' },
    });
    await eventually(() => log[0]).toContain('timed out after 1000 ms, and had to be killed');
    await eventually(() => at().processes()).toEqual([]);
  });

  it('that runs when nobody wants its score any more is killed', async () => {
    const { sources } = measure({ x: { command: 'sleep 999', timeout: '10m', maxAge: '1h' } });
    await eventually(() => at().processes().length).toBeGreaterThan(0);
    await sources.close();
    expect(at().processes()).toEqual([]);
  });
});

describe('an address', () => {
  it('has a number for its body', async () => {
    let next = 9007199254740990n;
    answer = (_request, response) => response.end(`${next++}\n`);
    const { value } = measure({ x: { http: address } });
    await eventually(value).toBe(9007199254740993n);
  });

  const faults: [string, typeof answer, string][] = [
    ['says nothing', () => {}, 'timed out after 300 ms'],
    ['says half of it', (_, response) => response.write('1'), 'timed out after 300 ms'],
    [
      'speaks of something else',
      (_, response) => response.end('<html>'),
      'expected one number, found "<html>"',
    ],
    ['says nothing at all', (_, response) => response.end(), 'expected one number, found nothing'],
    ['never ends', (_, response) => flood(response), 'responded with more than 1024 bytes'],
    ['has no such page', (_, response) => response.writeHead(404).end('7'), 'responded with status 404'],
    [
      'sends elsewhere',
      (_, response) => response.writeHead(302, { location: 'http://192.0.2.1/' }).end('7'),
      'redirects to "http://192.0.2.1/", but redirects are not followed: set that address directly',
    ],
    ['hangs up', (request) => request.socket.destroy(), 'other side closed'],
    ['is no server of HTTP', (request) => request.socket.end('SSH-2.0\r\n\r\n'), 'HTTP'],
  ];
  it.each(faults)('that %s is a failure that says so', async (_, how, right) => {
    answer = how;
    const problem = await complaint({ http: address, ...timeFor(right) });
    expect(problem).toContain(`${address}: `);
    expect(problem).toContain(right);
  });

  it('that nobody listens at is a failure that says so', async () => {
    server.close();
    await once(server, 'close');
    expect(await complaint({ http: address })).toMatch(/: connect ECONNREFUSED 127\.0\.0\.1:\d+$/);
  });
});

function flood(response: ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write('7'.repeat(65_536)));
  };
  response.on('drain', more);
  more();
}

describe('a Prometheus page', () => {
  it('has the value of a metric', async () => {
    answer = (request, response) => {
      expect(request.headers.accept).toContain('text/plain;version=0.0.4');
      response.end('# TYPE lag gauge\nlag{db="a"} 3\nlag{db="b"} 17.5\n');
    };
    const { value } = measure({ x: { prometheus: address, metric: 'lag', labels: { db: 'b' } } });
    await eventually(value).toBe(17.5);
  });

  it('has the rate of a counter, also when it starts over', async () => {
    const startedAtMs = performance.now();
    let lostAtMs = 0;
    answer = (_, response) => {
      const counted = Math.round((performance.now() - startedAtMs) / 10);
      if (lostAtMs === 0 && counted > 50) lostAtMs = counted;
      response.end(`asked{code="200"} ${counted - lostAtMs}\nasked{code="500"} 7\n`);
    };
    const source = { ...patient, prometheus: address, metric: 'asked', rate: true };
    const { value, log } = measure({ x: source });
    await eventually(() => lostAtMs).toBeGreaterThan(0);
    const rates: number[] = [];
    await eventually(() => rates.push(Number(value()))).toBeGreaterThan(20);
    // A pause of this process between two answers distorts individual rates, so only the median is compared.
    expect(Math.min(...rates)).toBeGreaterThanOrEqual(0);
    expect(rates.toSorted((a, b) => a - b)[10]).toSatisfy((median: number) => median > 10 && median < 1000);
    expect(log).toEqual([]);
  });

  it('whose counter grows by more than a number holds is a failure that says so', async () => {
    let requests = 0;
    answer = (_, response) => response.end(`asked ${requests++ % 2 === 0 ? 0 : 1e308}\n`);
    const source = { prometheus: address, metric: 'asked', rate: true };
    expect(await complaint(source)).toContain('the counters grew by more than a number can represent');
  });

  it.each([
    ['other 1\n', 'no series matches lag{db="a"}'],
    [
      'lag{db="a",x="1"} 1\nlag{db="a",x="2"} 2\nlag{db="a",x="3"} 2\n',
      '3 series match lag{db="a"}, such as {db="a",x="1"} and {db="a",x="2"}: add labels that select only one',
    ],
    ['lag{db="a"} NaN\n', 'expected one number, found "NaN"'],
    ['lag{db="a" 1\n', 'is not a valid line in the Prometheus format'],
  ])('without one value for it is a failure that says so: %j', async (page, right) => {
    answer = (_, response) => response.end(page);
    expect(await complaint({ prometheus: address, metric: 'lag', labels: { db: 'a' } })).toContain(right);
  });
});

describe('a source that fails', () => {
  it('costs its score nothing until that is too old, and is logged when it begins and when it is over', async () => {
    let ok = true;
    let requests = 0;
    answer = (_, response) => {
      requests += 1;
      response.writeHead(ok ? 200 : 503).end('7');
    };
    const { value, log } = measure({ x: { http: address, every: '100ms', timeout: '400ms', maxAge: '1s' } });
    await eventually(value).toBe(7);
    ok = false;
    await eventually(() => log).toEqual([expect.stringContaining('responded with status 503')]);
    expect(value()).toBe(7);
    await eventually(value).toBeUndefined();
    const before = requests;
    await eventually(() => requests - before).toBeGreaterThan(3);
    expect(log).toHaveLength(1);
    ok = true;
    await eventually(value).toBe(7);
    await eventually(() => log.slice(1)).toEqual(['score x can be measured again']);
  });

  it('now and again is not logged each time', async () => {
    let requests = 0;
    answer = (_, response) => response.writeHead(requests++ % 2 === 0 ? 200 : 503).end('7');
    const { value, log } = measure({ x: { ...patient, http: address } });
    await eventually(() => requests).toBeGreaterThan(20);
    expect(value()).toBe(7);
    expect(log).toHaveLength(1);
  });
});

describe('new sources', () => {
  it('go on where they are the same, begin where they are new, and end where they are gone', async () => {
    const same = { command: 'echo x >> $DIR/same; echo 1', every: '10m', maxAge: '1h' };
    const { sources, value, measurements } = measure({
      same,
      changed: { command: 'echo 2' },
      gone: { command: 'echo 3' },
    });
    await eventually(() => [value('same'), value('changed'), value('gone')]).toEqual([1, 2, 3]);
    const seen: unknown[] = [];
    measurements.onChange(() => seen.push(value('changed')));
    sources.use(read({ same, changed: { command: 'echo 20' }, fresh: { command: 'echo 4' } }));
    await eventually(() => [value('changed'), value('fresh')]).toEqual([20, 4]);
    expect([value('same'), value('gone')]).toEqual([1, undefined]);
    expect(seen).not.toContain(undefined);
    expect(at().lines('same')).toHaveLength(1);
  });
});
