/** Checks the node's machine, and the files and programs that the settings name. */
import { isOpenToOthers } from '../config/secret-file.js';
import type { Facts, NodeFacts } from './facts.js';
import { type Finding, finding, ok, orOk } from './finding.js';

export function checkNode({ node }: Facts): Finding[] {
  return [
    ...checkSettings(node),
    ...checkHooks(node),
    ...checkFiles(node),
    ...checkListen(node),
    ...checkSystem(node),
  ];
}

function checkSettings({ settings }: NodeFacts): Finding[] {
  if (settings === null) return [];
  return [finding('settings', 'error', settings, 'fix the settings: no agent can start with them')];
}

function checkHooks({ hooks, hasHooks }: NodeFacts): Finding[] {
  const broken = hooks.map((problem) =>
    finding('hooks', 'error', problem, 'install the program, or correct the setting'),
  );
  if (broken.length > 0) return broken;
  if (hasHooks) return orOk([], 'hooks', 'all programs named in hooks exist');
  const todo = 'if the agent has hooks, run doctor with the agent’s --config';
  return [
    finding(
      'hooks',
      'note',
      'no hook is set: an agent with these settings can lead, but starts no workload',
      todo,
    ),
  ];
}

function checkFiles({ secretFiles, unreadable }: NodeFacts): Finding[] {
  const open = secretFiles.filter(({ mode }) => mode !== null && isOpenToOthers(mode));
  const findings = open.map(({ path, key, mode }) => {
    const octal = ((mode ?? 0) & 0o777).toString(8).padStart(4, '0');
    const what = `${path} (${key}) contains a secret, but other users can access it (mode ${octal})`;
    return finding('files', 'error', what, `chmod 600 ${path}`);
  });
  const missing = unreadable.map(({ path, key, why }) => {
    const todo =
      'create the file, or correct the setting. Check that doctor runs on the agent’s machine and as the agent’s user';
    return finding('files', 'error', `${path} (${key}) cannot be read: ${why}`, todo);
  });
  const all = [...findings, ...missing];
  if (secretFiles.length === 0) return all;
  return orOk(all, 'files', `no other user can read the files that contain secrets (${secretFiles.length})`);
}

function checkListen({ listen }: NodeFacts): Finding[] {
  if (listen === null) return [];
  const { address, isAskedFor, state, owner } = listen;
  if (state === 'free') return [ok('http', `${address} is available for HTTP`)];
  if (owner?.isOwn === true) return [ok('http', `${address} is in use by this node: ${owner.text} answers`)];
  const [severity, cost] = isAskedFor
    ? (['error', 'an agent with these settings cannot start'] as const)
    : (['warning', 'the agent runs without HTTP'] as const);
  if (state === 'taken') {
    const who = owner === null ? 'a process that is not a Petrel agent' : owner.text;
    const port = address.slice(address.lastIndexOf(':') + 1);
    const todo = `choose another address for --listen, or stop the process that ss -ltnp 'sport = :${port}' shows`;
    return [finding('http', severity, `${address} is in use by ${who}: ${cost}`, todo)];
  }
  const todo = state.todo ?? 'choose another address for --listen';
  return [finding('http', severity, `cannot listen on ${address} (${state.problem}): ${cost}`, todo)];
}

function checkSystem({ system }: NodeFacts): Finding[] {
  const findings = [
    ...(system.seesProcesses
      ? []
      : [
          finding(
            'system',
            'warning',
            '/proc shows no processes: Petrel cannot prove that a workload is dead, so the node keeps its claim',
            'mount /proc in the agent’s environment',
          ),
        ]),
    ...(system.hasShell
      ? []
      : [
          finding(
            'system',
            'warning',
            '/bin/sh is missing: the reaper and hooks given as shell commands cannot run',
            'install a shell as /bin/sh',
          ),
        ]),
  ];
  return orOk(findings, 'system', '/proc shows processes, and the reaper has a shell');
}
