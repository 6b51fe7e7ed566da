/**
 * Plays two changes of leader with what was built, for V8 to compile what they call: a node takes over once in a long while, and
 * would have to compile on the way what it has never run. What the second node has become by its end is kept: it has joined,
 * waited, taken over, elected, and handed over.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const patienceMs = 30_000;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export async function rehearse() {
  const { startDevelopmentServer } = await import(pathToFileURL(here('../dist/src/testing.js')).href);
  const codes = ['cli/run.cjs', 'guardian/program.cjs', 'index.cjs'].map((name) =>
    here(`../dist/src/${name}.code`),
  );
  await Promise.all(codes.map((file) => rm(file, { force: true })));
  const server = await startDevelopmentServer();
  const directory = await mkdtemp(join(tmpdir(), 'petrel-rehearsal-'));
  try {
    const plays = await Promise.allSettled([
      changeLeaders((node, env) => libraryNode(server.connectString, node, env)),
      changeLeaders((node, env) => agentNode(server.connectString, node, env, directory)),
    ]);
    const failed = plays.find(({ status }) => status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    await Promise.all(codes.map((file) => access(file)));
  } finally {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function changeLeaders(start) {
  const nodes = [];
  try {
    for (const name of ['a', 'b', 'c']) {
      const node = start(name, name === 'b' ? { NODE_OPTIONS: `--require ${here('keep-code.cjs')}` } : {});
      nodes.push(node);
      await node.said(/joined/);
    }
    for (const node of nodes) {
      await node.said(/READY|leads/);
      await node.leave();
    }
  } finally {
    await Promise.allSettled(nodes.map((node) => node.leave()));
  }
}

function libraryNode(connect, name, env) {
  return startNode(name, [here('library-node.mjs'), connect, '/rehearsal-library', name], env);
}

function agentNode(connect, name, env, directory) {
  return startNode(name, [here('../dist/src/cli/main.cjs'), 'agent'], {
    ...env,
    HOME: directory,
    PETREL_ZOOKEEPER: connect,
    PETREL_ROOT: '/rehearsal-agent',
    PETREL_NODE_ID: name,
    PETREL_SITE: 'rehearsal',
    PETREL_STATE_DIR: join(directory, name),
    PETREL_LISTEN: 'off',
    PETREL_ON_TAKEOVER: 'true',
    PETREL_ON_RELEASE: 'true',
  });
}

/** It is given the machine's settings, and none of Petrel's. */
function startNode(name, args, env) {
  const own = Object.entries(process.env).filter(([key]) => !/^(PETREL_|NODE_OPTIONS$)/.test(key));
  const child = spawn(process.execPath, args, { env: { ...Object.fromEntries(own), ...env } });
  let text = '';
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      child.emit('said');
    });
  const end = once(child, 'exit');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const fail = (what, cause) => new Error(`rehearsal: node ${name} ${what}:\n${text}`, { cause });

  const said = async (what) => {
    const signal = AbortSignal.timeout(patienceMs);
    while (!what.test(text)) {
      if (hasEnded()) throw fail(`has ended, and never said ${what}`);
      await Promise.race([once(child, 'said', { signal }), end]).catch((cause) => {
        throw fail(`said nothing of ${what} in ${patienceMs} ms`, cause);
      });
    }
  };
  /** A guardian that is killed leaves an agent behind, so it is asked first. */
  const leave = async () => {
    if (!hasEnded()) child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), patienceMs);
    const [code] = await end;
    clearTimeout(kill);
    if (code !== 0) throw fail(`ended with ${child.signalCode ?? code}`);
  };
  return { said, leave };
}
