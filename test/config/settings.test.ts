import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commonSettings } from '../../src/config/node-settings.js';
import { readSettings, settingOptions } from '../../src/config/read-settings.js';
import { agentSettings } from '../../src/config/settings.js';
import { readYaml } from '../../src/config/yaml.js';
import { PetrelError } from '../../src/errors.js';
import { readPointInTime } from '../../src/group/time.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'petrel-settings-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** Reads the settings of an agent, as the command line does. */
function read(args: readonly string[], env: Record<string, string> = {}) {
  const command = new Command().exitOverride();
  for (const option of settingOptions(agentSettings)) command.addOption(option);
  command.parse(args, { from: 'user' });
  return readSettings(agentSettings, { flags: command.opts(), env });
}

async function file(text: string, name = 'petrel.yaml'): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

async function reasonsOf(reading: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await reading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PetrelError)) throw new Error('it was accepted');
  expect(error.code).toBe('INVALID');
  return error.reasons;
}

describe('settings', () => {
  it('have defaults', async () => {
    const { values, described } = await read([]);
    expect(values).toMatchObject({
      zookeeper: '127.0.0.1:2181',
      root: '/cluster',
      nodeId: hostname(),
      site: 'default',
      priority: 100,
      sessionTimeoutMs: 6000,
      onTakeover: null,
      tags: {},
    });
    expect(described.find(({ key }) => key === 'sessionTimeout')).toEqual({
      name: 'sessionTimeoutMs',
      isSecret: false,
      key: 'sessionTimeout',
      value: '6s',
      source: 'default',
    });
  });

  it('take a flag over a variable over the file', async () => {
    const path = await file(
      'site: file\npriority: 1\nsessionTimeout: 4s\nhooks:\n  healthCheckFailures: 5\n',
    );
    const { values, described } = await read(['--site', 'flag', '-c', path], {
      PETREL_SITE: 'variable',
      PETREL_PRIORITY: '2',
      PETREL_ROOT: '',
    });
    expect(values).toMatchObject({
      site: 'flag',
      priority: 2,
      sessionTimeoutMs: 4000,
      healthCheckFailures: 5,
      root: '/cluster',
    });
    const sources = Object.fromEntries(described.map(({ key, source }) => [key, source]));
    expect(sources).toMatchObject({
      site: '--site',
      priority: 'PETREL_PRIORITY',
      sessionTimeout: `${path}:3:1`,
      root: 'default',
    });
  });

  it('can be given as a flag and as a variable, every one of them', async () => {
    const path = await file('', 'some.pem');
    const texts: Record<string, string> = {
      zookeeper: 'zk1:2181,[::1]:2182/chroot',
      root: '/a/b',
      authFile: path,
      strategies: 'petrel-fair',
      constraints: 'petrel-spares',
      'tls.ca': path,
      'tls.cert': path,
      'tls.key': path,
      'tls.passphraseFile': path,
      'tls.servername': 'zk',
      logLevel: 'debug',
      logFormat: 'json',
      nodeId: 'a-1',
      site: 'a',
      priority: '7',
      sessionTimeout: '10s',
      stateDir: '/var/lib/petrel',
      tags: 'rack=r1',
      scores: 'load=uptime | cut -c1',
      'probe.listen': '[::]:7946',
      'probe.address': 'node1.example.com',
      'probe.protocol': 'tcp',
      'probe.interval': '2s',
      'probe.secretFile': path,
      'hooks.onTakeover': 'promote --now',
      'hooks.onRelease': '["/bin/demote","--now"]',
      'hooks.onFence': 'fence',
      'hooks.onPrepare': 'warm up',
      'hooks.healthCheck': 'check',
      'hooks.healthCheckInterval': '1s',
      'hooks.healthCheckTimeout': '500ms',
      'hooks.healthCheckFailures': '2',
      'http.listen': '0.0.0.0:8008',
      'http.hosts': 'petrel.example.com',
      'http.tokenFile': path,
      'http.tls.cert': path,
      'http.tls.key': path,
      groupsUnder: '/services',
    };
    const options = settingOptions(agentSettings).filter((option) => option.long !== '--config');
    expect(options).toHaveLength(Object.keys(texts).length);
    const byFlag = await read(
      options.flatMap((option, at) => [option.long ?? '', Object.values(texts)[at] ?? '']),
    );
    const variables = options.map((option) => /env: (PETREL_[A-Z_]+)/.exec(option.description)?.[1] ?? '');
    const byVariable = await read(
      [],
      Object.fromEntries(variables.map((name, at) => [name, Object.values(texts)[at] ?? ''])),
    );
    const others = (settings: typeof byFlag) =>
      settings.described.filter(({ key }) => Object.hasOwn(texts, key));
    expect(others(byFlag).every(({ source }) => source.startsWith('--'))).toBe(true);
    expect(others(byVariable).every(({ source }) => source.startsWith('PETREL_'))).toBe(true);
    expect(byVariable.values).toEqual(byFlag.values);
    expect(byFlag.values).toMatchObject({
      priority: 7,
      sessionTimeoutMs: 10_000,
      onTakeover: 'promote --now',
      onRelease: ['/bin/demote', '--now'],
      tags: { rack: 'r1' },
      healthCheckFailures: 2,
    });
  });

  it('take a secret of probes from the file or a variable, from no flag, and do not show it', async () => {
    const text = 'known to the whole group';
    for (const reading of [
      read([], { PETREL_PROBE_SECRET: text }),
      read(['-c', await file(`probe: {secret: ${text}}\n`)]),
    ]) {
      const { values, described } = await reading;
      expect(values.probeSecret).toBe(text);
      expect(JSON.stringify(described)).not.toContain(text);
    }
    expect(settingOptions(agentSettings).some(({ long }) => long === '--probe-secret')).toBe(false);
    const [reason] = await reasonsOf(read([], { PETREL_PROBE_SECRET: 'too short' }));
    expect(reason).toBe('PETREL_PROBE_SECRET: probe.secret: expected a secret of 16 to 1024 characters');
  });

  it('refuse two secrets of probes, and an address where nothing listens', async () => {
    const secretFile = await file('known to the whole group\n', 'secret');
    expect(
      await reasonsOf(read(['--probe-secret-file', secretFile], { PETREL_PROBE_SECRET: 'x'.repeat(16) })),
    ).toEqual([
      'PETREL_PROBE_SECRET: probe.secret: set either probe.secret or probe.secretFile (--probe-secret-file), not both',
    ]);
    expect(await reasonsOf(read(['--probe-address', 'node1']))).toEqual([
      '--probe-address: probe.address also requires probe.listen',
    ]);
  });

  it.each([
    ['7946', 'expected HOST:PORT'],
    [':7946', 'expected HOST:PORT'],
    ['::1:7946', 'expected HOST:PORT'],
    ['[::1]', 'has no port'],
    ['[10.0.0.1]:1', 'expected HOST:PORT'],
    ['300.0.0.1:1', 'expected HOST:PORT'],
    ['a b:1', 'expected HOST:PORT'],
    ['a:70000', 'expected at most 65535'],
  ])('refuse to listen for probes at %s', async (text, what) => {
    expect((await reasonsOf(read(['--probe-listen', text])))[0]).toContain(what);
  });

  it('give a common command only what concerns it, from the same file', async () => {
    const path = await file('root: /x\nhooks:\n  onTakeover: promote\n');
    const { values } = await readSettings(commonSettings, { flags: { config: path }, env: {} });
    expect(values.root).toBe('/x');
    expect(values).not.toHaveProperty('onTakeover');
  });

  it('collect scores from repeated flags, from the lines of one variable, and from the file', async () => {
    const rhythm = { every: '1s', timeout: '1s' };
    const byFlag = await read(['--score', 'load=cut -d= -f2 /x', '--score', 'lag=["/bin/lag","-a=b"]']);
    const load = { command: 'cut -d= -f2 /x', ...rhythm };
    expect(byFlag.values.scores).toEqual({ load, lag: { command: ['/bin/lag', '-a=b'], ...rhythm } });
    const lines = 'load=cut -d= -f2 /x\n{"lag": {"http": "http://localhost:1/lag", "tolerance": 0}}\n';
    const byVariable = await read([], { PETREL_SCORES: lines });
    const lag = { http: 'http://localhost:1/lag', tolerance: 0, ...rhythm };
    expect(byVariable.values.scores).toEqual({ load, lag });
    const path = await file(
      'scores:\n  load: cut -d= -f2 /x\n  lag: {http: "http://localhost:1/lag", tolerance: 0}\n' +
        '  requests: {prometheus: "http://localhost:1/", metric: asked_total, rate: true, every: 2s}\n',
    );
    const byFile = await read(['-c', path]);
    const metric = { metric: 'asked_total', labels: {}, rate: true };
    const requests = { prometheus: 'http://localhost:1/', ...metric, ...rhythm, every: '2s' };
    expect(byFile.values.scores).toEqual({ load, lag, requests });
    expect(byFile.described.find(({ key }) => key === 'scores')).toMatchObject({
      value: JSON.stringify({ load, lag: byFile.values.scores.lag, requests: byFile.values.scores.requests }),
      source: `${path}:1:1`,
    });
  });

  it.each([
    [
      '{load: {}}',
      'scores.load: expected a command, or an object with one of the keys command, http, prometheus',
    ],
    ['{load: {command: x, http: "http://h/"}}', 'scores.load: expected a command, or an object with one of'],
    ['{load: 7}', 'scores.load: expected a command, or an object with one of the keys'],
    ['{load: ""}', 'scores.load.command: the command is empty: remove the setting instead'],
    ['{load: []}', 'scores.load.command: expected a shell command, or a list'],
    ['{load: {http: "localhost:80"}}', 'scores.load.http: expected an http:// or https:// address'],
    ['{load: {http: "http://me:secret@h/"}}', 'scores.load.http: expected an http:// or'],
    ['{load: {prometheus: "http://h/"}}', 'scores.load.metric: expected a metric name of letters, digits'],
    [
      '{load: {prometheus: "http://h/", metric: "a b"}}',
      'scores.load.metric: expected a metric name of letters',
    ],
    [
      '{load: {prometheus: "http://h/", metric: a, labels: {x: 1}}}',
      'scores.load.labels.x: expected labels as names',
    ],
    ['{load: {prometheus: "http://h/", metric: a, rate: 5}}', 'scores.load.rate: expected true or false'],
    [
      '{load: {command: x, period: 1s}}',
      'scores.load: unknown `period`; expected one of command, every, timeout',
    ],
    ['{load: {command: x, every: 1}}', 'scores.load.every: 1 has no unit: write 1s, 1m or 1h'],
    ['{load: {command: x, every: 1ms}}', 'scores.load.every: 1ms is too short: expected at least 100ms'],
    [
      '{load: {command: x, maxAge: 2s}}',
      'scores.load.maxAge: maxAge (2s) must be longer than every (1s) plus timeout',
    ],
    [
      '{load: {command: x, tolerance: 5 %}}',
      'scores.load.tolerance: expected a percentage such as 5%, or a number',
    ],
    [
      '{load: {command: x, tolerance: -1}}',
      'scores.load.tolerance: expected a percentage such as 5%, or a number',
    ],
    ['{"a/b": x}', 'scores.a/b: expected a name of 1 to 128 letters'],
    ['[x]', 'scores: expected scores as names with sources'],
  ])('say of a score what would be right: %s', async (text, right) => {
    expect(await reasonsOf(read(['-c', await file(`scores: ${text}\n`)]))).toEqual([
      expect.stringContaining(right),
    ]);
  });

  it.each([
    ['load', '"load" is not a score: write NAME=COMMAND'],
    ['=x', '"=x" is not a score: write NAME=COMMAND'],
    ['load=["x"', 'starts with [ but is not a JSON list'],
    ['{"load"', 'starts with { but is not a JSON object, such as {"load": {"command": '],
  ])('say of a score on the command line what would be right: %s', async (text, right) => {
    expect(await reasonsOf(read(['--score', text]))).toEqual([
      expect.stringContaining(`--score: scores: ${right}`),
    ]);
  });

  it('collect tags from repeated flags and from one variable', async () => {
    const byFlag = await read(['--tag', 'rack=r1', '--tag', 'note=a,b=c']);
    expect(byFlag.values.tags).toEqual({ rack: 'r1', note: 'a,b=c' });
    const byVariable = await read([], { PETREL_TAGS: 'rack=r1, disk=ssd' });
    expect(byVariable.values.tags).toEqual({ rack: 'r1', disk: 'ssd' });
    const byFile = await read(['-c', await file('tags: {rack: 12, fast: true}')]);
    expect(byFile.values.tags).toEqual({ rack: '12', fast: 'true' });
  });

  it('find relative paths next to the file', async () => {
    await file('', 'ca.pem');
    const { values } = await read(['-c', await file('tls: {ca: ca.pem}\nstateDir: state')]);
    expect(values.tlsCa).toBe(join(directory, 'ca.pem'));
    expect(values.stateDir).toBe(join(directory, 'state'));
  });

  it('show no secret', async () => {
    const path = await file('auth: digest:u:hunter2\ntls: {key: k.pem, cert: k.pem, passphrase: hunter2}');
    await file('', 'k.pem');
    const { described } = await read(['-c', path]);
    expect(JSON.stringify(described)).not.toContain('hunter2');
    expect(described.find(({ key }) => key === 'auth')?.value).toBe('[secret]');
    const wrong = await reasonsOf(
      read(['-c', await file('auth: hunter2\nsite: {{}')], { PETREL_AUTH: 'hunter2' }),
    );
    expect(wrong.join()).not.toContain('hunter2');
    expect(wrong.join()).toContain('PETREL_AUTH: auth: expected digest:USER:PASSWORD');
  });
});

describe('wrong settings', () => {
  it.each([
    ['nodeId: -a', ':1:1: nodeId: "-a": expected a name of 1 to 128 letters'],
    ['priority: 1.5', ':1:1: priority: expected a whole number'],
    ['priority: -1', ':1:1: priority: expected at least 0'],
    ['sessionTimeout: 6', ':1:1: sessionTimeout: 6 has no unit: write 6s, 6m or 6h'],
    ['sessionTimeout: 6h', ':1:1: sessionTimeout: 6h is too long: expected at most 1h'],
    ['root: cluster', ':1:1: root: "cluster": expected an absolute path'],
    ['root: /a/../b', ':1:1: root: "/a/../b": a root path must not contain . or ..'],
    ['root: /a/', ':1:1: root: "/a/": expected an absolute path'],
    [
      'zookeeper: "zk1:99999"',
      ':1:1: zookeeper: ZooKeeper connection string "zk1:99999": the server has the port "99999": expected 1',
    ],
    [
      'zookeeper: "zk1,,zk2"',
      ':1:1: zookeeper: ZooKeeper connection string "zk1,,zk2": server 2 of 3 is empty',
    ],
    ['logLevel: loud', ':1:1: logLevel: "loud": expected one of trace, debug'],
    ['tags: {rack: [1]}', ':1:1: tags.rack: expected a string as the value of a tag'],
    ['hooks: {onTakeover: []}', ':1:9: hooks.onTakeover: expected a shell command, or a list'],
    ['hooks: {onTakeover: ""}', ':1:9: hooks.onTakeover: the command is empty'],
    ['hooks: promote', ':1:8: "hooks": expected keys with values, such as "onTakeover: …"'],
    ['- site', ':1:1: a settings file: expected keys with values, such as "zookeeper: …"'],
    ['site: a\nsites: b', ':2:1: unknown setting "sites": did you mean "site"?'],
    ['onTakeover: x', ':1:1: unknown setting "onTakeover": did you mean "hooks.onTakeover"?'],
    ['hooks:\n  onTakover: x', ':2:3: unknown setting "hooks.onTakover": did you mean "hooks.onTakeover"?'],
    ['colour: red', ':1:1: unknown setting "colour": known settings: zookeeper, root'],
    ['site: a\nsite: b', ':2:1: not YAML: Map keys must be unique'],
    ['site: "a', ':1:9: not YAML: Missing closing "quote'],
    ['tls: {ca: /no/such.pem}', ':1:7: tls.ca: cannot read the file: ENOENT'],
    ['tls: {passphrase: x}', ':1:7: tls.passphrase also requires tls.key'],
  ])('%j: %s', async (text, expected) => {
    const path = await file(text);
    expect((await reasonsOf(read(['-c', path])))[0]).toContain(`${path}${expected}`);
  });

  it('are named with their flag or variable, all of them at once', async () => {
    const reasons = await reasonsOf(
      read(['--priority', 'high', '--tag', 'rack'], { PETREL_SITE: 'a b', PETREL_ON_FENCE: '[x' }),
    );
    expect(reasons).toEqual([
      expect.stringContaining('PETREL_SITE: site: "a b": expected a name'),
      '--priority: priority: "high": expected a whole number',
      '--tag: tags: "rack" is not a tag: write NAME=VALUE',
      expect.stringContaining('PETREL_ON_FENCE: hooks.onFence: starts with [ but is not a JSON list'),
    ]);
  });

  it('are reported even where something stronger overrides them', async () => {
    const reasons = await reasonsOf(read(['--priority', '1'], { PETREL_PRIORITY: 'x' }));
    expect(reasons).toEqual(['PETREL_PRIORITY: priority: "x": expected a whole number']);
  });

  it('say that the file is not there', async () => {
    const reasons = await reasonsOf(read(['-c', join(directory, 'none.yaml')]));
    expect(reasons[0]).toContain('none.yaml: cannot read the settings file: ENOENT');
  });

  it('of the environment are warned about when they are nearly ours', async () => {
    const { warnings } = await read([], {
      PETREL_PRIORTY: '1',
      PETREL_SERVICE_HOST: '10.0.0.1',
      PETREL_TERM: '3',
    });
    expect(warnings).toEqual(['unknown variable PETREL_PRIORTY: did you mean PETREL_PRIORITY?']);
  });
});

describe('T8 a refusal', () => {
  it.each([
    ['site: 1\n', 'site: 1 is a number, but a string is expected: write "1", with the quotes'],
    ['nodeId: true\n', 'nodeId: true is a boolean, but a string is expected: write "true", with the quotes'],
    [
      'site: a\n---\nsite: b\n',
      'expected one YAML document, found several: keep one, and remove the --- lines',
    ],
    ['auth: 12345\n', 'expected digest:USER:PASSWORD'],
  ])('of %j says what to do', async (text, words) => {
    const [reason = ''] = await reasonsOf(read(['-c', await file(text)]));
    expect(reason).toContain(words);
    expect(reason).not.toContain('12345');
  });

  it('is not made of what Kubernetes sets for a Service named petrel; PETREL_PORT=8008 is still a slip', async () => {
    const set = {
      PETREL_PORT: 'tcp://10.0.0.1:8008',
      PETREL_SERVICE_PORT: '8008',
      PETREL_PORT_8008_TCP: 'tcp://10.0.0.1:8008',
      PETREL_PORT_8008_TCP_ADDR: '10.0.0.1',
    };
    expect((await read([], set)).warnings).toEqual([]);
    expect((await read([], { PETREL_PORT: '8008' })).warnings).toHaveLength(1);
  });
});

describe('T7 what would not mean what it says', () => {
  it.each([
    [['--tag', '__proto__=1']],
    [['--score', '__proto__=uptime']],
    [['--score', '{"__proto__": "uptime"}']],
  ])('is refused: %j', async (args) => {
    expect(await reasonsOf(read(args))).toEqual([
      expect.stringContaining('__proto__ is not allowed as a name'),
    ]);
  });

  it('is refused in a file, and as a day', async () => {
    const [reason = ''] = await reasonsOf(read(['-c', await file('tags: { __proto__: x }\n')]));
    expect(reason).toContain(':1:9: not YAML: __proto__ is not allowed as a name');
    expect(() => readYaml('nodes: { __proto__: { site: a } }')).toThrow(
      '__proto__ is not allowed as a name at line 1',
    );
    for (const text of ['2027-02-30T02:30Z', '2027-02-29T00:00:00+01:00', '2027-04-31T00:00:00Z'])
      expect(() => readPointInTime(text)).toThrow('is not a valid date');
    expect(() => readPointInTime('2027-1-3T00:00Z')).toThrow('expected a timestamp with time zone');
    expect(() => readPointInTime('2027-02-28T25:00:00Z')).toThrow('expected a timestamp with time zone');
    expect(readPointInTime('2028-02-29T02:30:00+01:00')(0)).toBe(Date.UTC(2028, 1, 29, 1, 30));
  });
});
