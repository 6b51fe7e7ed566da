/**
 * A fresh clone, as a person tries it: `npm start` installs, says only what matters, and stops at Ctrl-C.
 * Then the commands of README, docs and examples run as written, at the ports and host names that they name.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/exit-code.js';
import { pages, project, readPage } from '../docs/pages.js';
import { callsOf, shellBlocks } from '../docs/shell-blocks.js';
import { processesWith } from '../support/process-list.js';
import { hasRooms, Room } from '../support/room.js';
import { Terminal } from '../support/terminal.js';
import { until } from '../support/until.js';

const installMs = 400_000;
const startMs = 120_000;
const closing = 'Ctrl-C to stop everything.';
const ctrlC = '\u0003';

let dir = '';
let clone = '';
/** Directory for temporary files. All that is started has the path in its environment. */
let temporary = '';

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'petrel-clone-'));
  [clone, temporary] = [join(dir, 'petrel'), join(dir, 'tmp')];
  await mkdir(temporary);
  const isSource = (path: string) => !['.git', 'dist', 'node_modules'].includes(basename(path));
  await cp(project, clone, { recursive: true, filter: isSource });
});
afterAll(() => rm(dir, { recursive: true }));

/** The environment of a person: that of this process without what npm and the tests added. */
function environment(): Record<string, string | undefined> {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_|PETREL_|VITEST|TEST|CI$)/.test(name),
  );
  return {
    ...Object.fromEntries(own),
    TMPDIR: temporary,
    XDG_STATE_HOME: join(dir, 'state'),
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
  };
}

function terminal(command: string, cwd = clone): Terminal {
  return new Terminal(command, { cwd, env: environment() });
}

function shows(at: Terminal, text: string | RegExp, timeoutMs = startMs): Promise<true> {
  const isThere = () => (typeof text === 'string' ? at.output.includes(text) : text.test(at.output));
  return until(isThere, { timeoutMs, describe: () => `${text} on the terminal, which shows:\n${at.output}` });
}

async function expectNothingLeft(): Promise<void> {
  await until(() => processesWith(temporary).length === 0, { describe: 'all that was started to be gone' });
  expect(readdirSync(temporary)).toEqual([]);
}

interface Ran {
  readonly command: string;
  readonly code: number;
  readonly output: string;
}

/** Runs a command without a terminal. */
function run([program, args]: readonly [string, readonly string[]], env = {}): Promise<Ran> {
  const options = { cwd: clone, env: { ...environment(), ...env } };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ command: args.join(' '), code, output: stdout + stderr });
    });
  });
}

/** Installs what is missing, for a test that runs alone. Rooms do not lead to a registry. */
async function installed(): Promise<void> {
  expect(await run([join(clone, 'petrel'), ['--version']])).toMatchObject({ code: 0 });
}

describe('npm start on a fresh clone', () => {
  it('can be interrupted while it installs', async () => {
    await using start = terminal('npm start');
    await shows(start, 'Installing dependencies, once');
    start.press(ctrlC);
    await start.exited;
    await expectNothingLeft();
  });

  it('says that it installs, and what to try, and nothing else; Ctrl-C stops everything', async () => {
    await using start = terminal('npm start');
    await shows(start, closing, installMs);
    const [before = '', after = ''] = start.output.split(/(?=READY: )/);
    expect(before).toMatch(
      /^\n> petrel@\S+ start\n> exec \.\/petrel dev\n\nInstalling dependencies, once: (\d+) of \1 packages\nDevelopment ZooKeeper on 127\.0\.0\.1:\d+; agents a1, a2, b1, b2 in sites a and b\n\n$/,
    );
    expect(after.split('\n').filter((line) => line.length > 80 && !line.includes(temporary))).toEqual([]);
    expect(existsSync(join(clone, 'node_modules/vitest'))).toBe(false);
    start.press(ctrlC);
    expect(await start.exited).toMatchObject({ code: 0 });
    expect(start.output).toMatch(
      /\nPress Enter to see this again, Ctrl-C to stop everything\.\n\^C\nStopping: [^\n]*\nStopped\.\n$/,
    );
    await expectNothingLeft();
  });

  it('compiles after a change, and only then, and refuses to run what does not compile', async () => {
    const file = join(clone, 'src/version.ts');
    const source = readFileSync(file, 'utf8');
    const version = () => run([join(clone, 'petrel'), ['--version']]);
    const changed = source.replace('return { packageDirectory: directory, version }', (line) =>
      line.replace('version', "version: 'changed ' + version"),
    );
    await writeFile(file, changed);
    expect(await version()).toMatchObject({ code: 0, output: expect.stringMatching(/^changed \d/) });
    const { mtimeMs } = statSync(join(clone, 'dist/package.json'));
    expect(await version()).toMatchObject({ code: 0 });
    expect(statSync(join(clone, 'dist/package.json')).mtimeMs).toBe(mtimeMs);
    await writeFile(file, `${source}\n}`);
    expect(await version()).toMatchObject({ code: 1, output: expect.stringContaining('src/version.ts') });
    await writeFile(file, source);
    expect(await version()).toMatchObject({ code: 0, output: expect.stringMatching(/^\d/) });
  });
});

describe('npm pack on a fresh clone', () => {
  it.each([['--dry-run'], []])(
    'installs what the build needs, and packs: %s',
    async (...flags) => {
      const packed = join(dir, 'packed');
      await mkdir(packed, { recursive: true });
      const ran = await run(['npm', ['pack', '--pack-destination', packed, ...flags]]);
      expect(ran).toMatchObject({ code: 0 });
      const files = flags.length === 0 ? [expect.stringMatching(/^petrel-.*\.tgz$/)] : [];
      expect(readdirSync(packed)).toEqual(files);
    },
    2 * installMs,
  );
});

describe.skipIf(!hasRooms)('a group that npm start has started', () => {
  let room: Room;
  let group: Terminal;

  beforeAll(async () => {
    const names = join(dir, 'room');
    await mkdir(names);
    room = await Room.open(names);
    await installed();
    group = terminal(quoted(room.inside(clone, ['npm', 'start'])));
    await shows(group, closing, installMs);
  });
  afterAll(async () => {
    group.press(ctrlC);
    await group.exited;
    await expectNothingLeft();
    await room[Symbol.asyncDispose]();
  });

  function inRoom(...command: string[]): Promise<Ran> {
    return run(room.inside(clone, command), { PATH: `${clone}:${process.env.PATH}` });
  }

  /** Returns the commands of the last block that the terminal shows. */
  function printed(): string[] {
    const block = group.output.slice(group.output.lastIndexOf('READY: '));
    const lines = block.replaceAll('\\\n', '').split('\n');
    return lines.filter((line) => /^ {2}[^ #]/.test(line)).map((line) => line.trim());
  }

  it('obeys the commands that it prints', async () => {
    const commands = printed().filter((command) => !/^kill |^http|\/events$/.test(command));
    expect(commands.length).toBeGreaterThan(7);
    for (const command of commands) {
      const ran = await inRoom('bash', '-c', command);
      expect(ran).toMatchObject({ code: 0 });
      // A request over HTTP does not wait for the outcome. The next test must not see that.
      const [, term = null] = /^location: \/terms\/(\d+)/m.exec(ran.output) ?? [];
      if (term !== null) await shows(group, `term ${term}, `);
    }
    const [url = ''] = printed().filter((command) => command.startsWith('http'));
    expect((await inRoom('bash', '-c', `curl -s ${url}`)).output).toContain('<title>');
  });

  it('shows one line for a transition, and its commands again when Enter is pressed', async () => {
    const kills = printed().filter((command) => command.startsWith('kill '));
    const [, leader = ''] = /READY: (\w+) is the leader/.exec(group.output) ?? [];
    expect(kills).toHaveLength(3);
    const sizeBefore = group.output.length;
    expect(await inRoom('petrel', 'switchover', '--yes')).toMatchObject({ code: 0 });
    const news = () => group.output.slice(sizeBefore).split('\n').filter(Boolean);
    await until(() => news().length > 0, { describe: 'a line for the transition' });
    expect(news()).toEqual([expect.stringMatching(/^\[[\d:]{8}\] term \d+, \w+ → \w+: READY, .{10}/)]);
    group.press('\n');
    await until(
      () =>
        printed()
          .filter((command) => command.startsWith('kill '))
          .join() !== kills.join(),
    );
    expect(group.output.slice(sizeBefore)).not.toContain(`READY: ${leader} is the leader`);
  });

  const readOnly = /^(list|explain|history|doctor|simulate|(config|acl) show|config validate|acl digest)\b/;
  const changes = /^(switchover|failover|pause|resume|(site|node|flag) |config (set|reset))/;
  /** Files and groups that only the reader has. */
  const foreign =
    /\/etc\/petrel|NODE|deployment\.yaml|petrel-auth|-r \/|--root|--config|no-spares|tagged-first/;

  const withCommands = pages().filter((page) => !page.includes('/tables/') && shellBlocks(page).length > 0);
  it.each(withCommands)('obeys the commands of %s', async (page) => {
    const calls = (await Promise.all(shellBlocks(page).map(callsOf))).flat();
    const own = calls.filter(([program]) => program === 'petrel').map(([, ...args]) => args);
    const known = own.filter((args) => !foreign.test(args.join(' ')));
    const looking = known.filter((args) => readOnly.test(args.join(' ')));
    const changing = known.filter((args) => changes.test(args.join(' ')));
    for (const args of [...looking, ...changing.map((args) => [...args, '--dry-run'])]) {
      const ran = await inRoom('petrel', ...args);
      // These are refused if no node would lead, or if the node leads already.
      const isRefusal = /^(simulate|switchover)$/.test(args[0] ?? '') && ran.code === exitCodes.refused;
      if (!isRefusal) expect(ran).toMatchObject({ code: 0 });
    }
  });

  it.each([
    ['node-service/scheduler.mjs', /^a: job done$/m],
    ['counter/counter.mjs', /^a: 3$/m],
  ])('runs examples/%s as its header says', async (example, expected) => {
    const header = readFileSync(join(clone, 'examples', example), 'utf8');
    // A file of an earlier run would remember a token of another ZooKeeper.
    const command = (/^ \* {3}(ZOOKEEPER=.*)$/m.exec(header)?.[1] ?? '').replace('/tmp/', `${dir}/`);
    await using service = terminal(quoted(room.inside(clone, ['bash', '-c', command])));
    await shows(service, expected);
    service.press(ctrlC);
    await service.exited;
  });

  it.each([
    ['own-constraint', /b1 \(site b\)\n\s+it is a spare, and the flag use-spares is not set/],
    ['own-strategy', /b1 .* tagged ssd, \d+ GB free/],
  ])('runs examples/%s as its page says', async (example, expected) => {
    const lines = (shellBlocks(`examples/${example}/README.md`)[0] ?? '').split('\n');
    const isAssignment = (line: string) => /^(export )?\w+=/.test(line);
    const folder = join(clone, 'examples', example);
    const bash = (line: string) => {
      const script = [...lines.filter(isAssignment), line].join('\n');
      return room.inside(folder, ['bash', '-c', script]);
    };
    const agents = lines.filter((line) => line.endsWith(' &')).map((line) => line.replace(/ &$/, ''));
    const commands = lines.filter((line) => line.startsWith('petrel ') && !line.endsWith(' &'));
    expect([agents.length, commands.length]).toEqual([2, 2]);
    const running = agents.map((agent) => terminal(quoted(bash(`exec ${agent}`))));
    for (const command of commands)
      await until(async () => (await run(bash(command))).code === 0, { describe: command });
    await until(async () => expected.test((await run(bash('petrel explain'))).output), {
      describe: String(expected),
    });
    for (const agent of running) agent.press(ctrlC);
    await Promise.all(running.map((agent) => agent.exited));
  });
});

/** Interactive bash in a room. */
class Shell {
  readonly terminal: Terminal;
  static readonly #prompt = /^bash-\d+\.\d+[#$] $/;

  constructor(room: Room) {
    const env = { ...environment(), TERM: 'dumb' };
    this.terminal = new Terminal(quoted(room.inside(clone, ['bash', '--norc', '-i'])), { cwd: clone, env });
  }

  /** Types commands one after the other, and says yes to each question. Returns what they print. */
  async do(commands: string): Promise<string> {
    const printed = [];
    const isAtPrompt = (text: string) => Shell.#prompt.test(text.split('\n').at(-1) ?? '');
    for (const command of commands.split('\n')) {
      await until(() => isAtPrompt(this.terminal.output), { describe: 'a prompt' });
      const from = this.terminal.output.length;
      this.terminal.press(`${command}\n`);
      let isConfirmed = false;
      const text = () => this.terminal.output.slice(from);
      const isOver = () => {
        if (!isConfirmed && text().endsWith('[y/N] ')) {
          isConfirmed = true;
          // The answer erases the question.
          printed.push(text());
          this.terminal.press('y\n');
        }
        return text().includes('\n') && isAtPrompt(text());
      };
      await until(isOver, { timeoutMs: startMs, describe: `the end of ${command}` });
      printed.push(text());
    }
    return printed.join('\n');
  }
}

describe.skipIf(!hasRooms)('the tutorial', () => {
  it('does what it shows', async () => {
    const names = join(dir, 'tutorial');
    await mkdir(names);
    await using room = await Room.open(names);
    await installed();
    const [, service = ''] = /```js\n(.*?)```/s.exec(readPage('docs/tutorial.md')) ?? [];
    await writeFile(join(clone, 'hello.mjs'), service);
    const [prepare = '', version = '', zooKeeper = '', a1 = '', b1 = '', look = '', ...later] =
      shellBlocks('docs/tutorial.md');
    const [maintain = '', back = '', kill = '', history = '', end = ''] = later;
    const [killIt = '', useIt = ''] = kill.split('\n');
    const [first, second] = [new Shell(room), new Shell(room)];
    await using firstTerminal = first.terminal;
    await using secondTerminal = second.terminal;
    const printsAtLast = (command: string, pattern: RegExp) =>
      until(async () => pattern.test(await second.do(command)), {
        describe: `${command} to print ${pattern}`,
      });

    for (const shell of [first, second]) await shell.do(prepare);
    expect(await first.do(version)).toMatch(/^\d+\.\d+\.\d+$/m);
    for (const [command, expected] of [
      [zooKeeper, 'Development ZooKeeper listening on 127.0.0.1:2181'],
      [a1, 'a1 serves'],
    ] as const) {
      firstTerminal.press(`${command}\n`);
      await shows(firstTerminal, expected);
    }
    firstTerminal.press(`${b1}\n`);
    await printsAtLast('petrel list', /^b1 .*STANDBY/m);
    expect(await second.do(look)).toMatch(/^Hello from a1, token \d+.*^a1 [^\n]*READY/ms);
    expect(await second.do(maintain)).toMatch(/proceed\? \[y\/N\] .*b1 is the leader: term 2 is READY/s);
    await printsAtLast(useIt, /^Hello from b1/m);
    expect(await second.do(back)).toMatch(/a1 is the leader: term 3 is READY/);
    await second.do(killIt);
    await printsAtLast(useIt, /^Hello from b1/m);
    expect(firstTerminal.output).toContain('the agent was killed by SIGKILL');
    await printsAtLast(history, / 4 .*READY \(failure\).*≥: the time to notice the loss is not included/s);
    await printsAtLast('petrel list', /^a1 .*STANDBY/m);
    const state = join(dir, 'state/petrel/hello');
    expect(existsSync(state)).toBe(true);
    // A reader may paste all lines at once.
    firstTerminal.press(`${end}\nexit\n`);
    secondTerminal.press('exit\n');
    await Promise.all([firstTerminal.exited, secondTerminal.exited]);
    await expectNothingLeft();
    expect(firstTerminal.output).toMatch(/\[2\]. +Exit 143 .*\[3\]. +Done /s);
    expect(existsSync(join(clone, 'hello.mjs'))).toBe(false);
    expect(existsSync(state)).toBe(false);
  });
});

/** Returns a command line for the shell. */
function quoted([program, args]: readonly [string, readonly string[]]): string {
  return [program, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}
