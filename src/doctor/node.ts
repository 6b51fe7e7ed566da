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

const otherAddress = 'choose another address for --listen';

function checkListen({ listen }: NodeFacts): Finding[] {
  if (listen === null) return [];
  const { address, isConfigured, state, owner } = listen;
  if (state === 'free') return [ok('http', `${address} is available for HTTP`)];
  if (owner?.isOwn === true) return [ok('http', `${address} is in use by this node: ${owner.text} answers`)];
  const [severity, cost] = isConfigured
    ? (['error', 'an agent with these settings cannot start'] as const)
    : (['warning', 'the agent runs without HTTP'] as const);
  if (state !== 'taken')
    return [
      finding(
        'http',
        severity,
        `cannot listen on ${address} (${state.problem}): ${cost}`,
        state.todo ?? otherAddress,
      ),
    ];
  if (owner === null) {
    const port = address.slice(address.lastIndexOf(':') + 1);
    const what = `${address} is in use by a process that is not a Petrel agent: ${cost}`;
    const todo = `${otherAddress}, or stop the process that ss -ltnp 'sport = :${port}' shows`;
    return [finding('http', severity, what, todo)];
  }
  if (owner.peer === null || isConfigured)
    return [finding('http', severity, `${address} is in use by ${owner.text}: ${cost}`, otherAddress)];
  const what = `${address} serves ${owner.peer}’s agent; another agent on this machine would run without HTTP`;
  const todo = `to check ${owner.peer}, run doctor --node-id ${owner.peer} or with its --config`;
  return [finding('http', 'note', what, todo)];
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
