/**
 * Plays two changes of leader with what was built, for V8 to compile what they call: a node takes over once in a long while, and
 * would have to compile on the way what it has never run. What the second node has become by its end is kept: it has joined,
 * waited, taken over, elected, and handed over.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const patienceMs = 30_000;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export async function rehearse() {
  const { startDevelopmentServer } = await import(pathToFileURL(here('../dist/src/testing.js')).href);
  const server = await startDevelopmentServer();
  const directory = await mkdtemp(join(tmpdir(), 'petrel-rehearsal-'));
  try {
    await Promise.all([
      changeLeaders((node, options) => libraryNode(server.connectString, node, options)),
      changeLeaders((node, options) => agentNode(server.connectString, node, options, directory)),
    ]);
  } finally {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function changeLeaders(start) {
  const nodes = [];
  try {
    for (const [index, name] of ['a', 'b', 'c'].entries()) {
      nodes.push(start(name, index === 1 ? { NODE_OPTIONS: `--require ${here('keep-code.cjs')}` } : {}));
      await nodes[index].said(/joined/);
    }
    for (const [index, node] of nodes.entries()) {
      await node.said(/READY|leads/);
      node.child.kill('SIGTERM');
      const [code] = await node.end;
      if (code !== 0) throw new Error(`rehearsal: node ${index + 1} ended with ${code}:\n${node.text()}`);
    }
  } finally {
    for (const { child } of nodes) child.kill('SIGKILL');
  }
}

function libraryNode(connect, name, env) {
  return startNode([here('library-node.mjs'), connect, '/rehearsal-library', name], env);
}

function agentNode(connect, name, env, directory) {
  return startNode([here('../dist/src/cli/main.cjs'), 'agent'], {
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

function startNode(args, env) {
  const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, ...env } });
  let text = '';
  const end = once(child, 'close');
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      child.emit('said');
    });
  const said = async (what) => {
    const signal = AbortSignal.timeout(patienceMs);
    while (!what.test(text)) {
      if (child.exitCode !== null) throw new Error(`rehearsal: ended, and never said ${what}:\n${text}`);
      await Promise.race([once(child, 'said', { signal }), end]).catch((cause) => {
        throw new Error(`rehearsal: nothing of ${what} was said in ${patienceMs} ms:\n${text}`, { cause });
      });
    }
  };
  return { child, end, said, text: () => text };
}
