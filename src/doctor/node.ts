/** The machine that the node is on, and what its settings name there. */
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
  return [finding('settings', 'error', settings, 'an agent with these settings does not start: mend them')];
}

function checkHooks({ hooks, hasHooks }: NodeFacts): Finding[] {
  const broken = hooks.map((problem) =>
    finding('hooks', 'error', problem, 'install it, or mend the setting'),
  );
  if (broken.length > 0) return broken;
  if (hasHooks) return orOk([], 'hooks', 'all programs that hooks name are there');
  const todo = 'look with the agent’s own --config, if it has hooks';
  return [
    finding('hooks', 'note', 'no hook is set: an agent with these settings leads, and does nothing', todo),
  ];
}

function checkFiles({ secretFiles, unreadable }: NodeFacts): Finding[] {
  const open = secretFiles.filter(({ mode }) => mode !== null && isOpenToOthers(mode));
  const findings = open.map(({ path, key, mode }) => {
    const octal = ((mode ?? 0) & 0o777).toString(8).padStart(4, '0');
    const what = `${path} (${key}) holds a secret, and its mode is ${octal}`;
    return finding('files', 'error', what, `chmod 600 ${path}`);
  });
  const missing = unreadable.map(({ path, key, why }) => {
    const todo = 'put it there, or mend the setting; is this the agent’s user, and its machine?';
    return finding('files', 'error', `${path} (${key}) cannot be read: ${why}`, todo);
  });
  const all = [...findings, ...missing];
  if (secretFiles.length === 0) return all;
  return orOk(all, 'files', `nobody else may read the ${secretFiles.length} files that hold secrets`);
}

function checkListen({ listen }: NodeFacts): Finding[] {
  if (listen === null) return [];
  const { address, isAskedFor, state, owner } = listen;
  if (state === 'free') return [ok('http', `${address} is free for HTTP`)];
  if (owner?.isOwn === true) return [ok('http', `${address} is this node’s: ${owner.text} answers there`)];
  const [severity, cost] = isAskedFor
    ? (['error', 'an agent with these settings does not start'] as const)
    : (['warning', 'the agent goes on without HTTP'] as const);
  if (state === 'taken') {
    const who = owner === null ? 'something that is no agent of Petrel' : owner.text;
    const port = address.slice(address.lastIndexOf(':') + 1);
    const todo = `give another --listen, or stop what listens there: ss -ltnp 'sport = :${port}' tells which process it is`;
    return [finding('http', severity, `${address} is taken by ${who}: ${cost}`, todo)];
  }
  const todo = state.todo ?? 'give another --listen';
  return [finding('http', severity, `nobody can listen on ${address}: ${state.problem}: ${cost}`, todo)];
}

function checkSystem({ system }: NodeFacts): Finding[] {
  const findings = [
    ...(system.seesProcesses
      ? []
      : [
          finding(
            'system',
            'warning',
            '/proc shows no processes: what is left of a workload cannot be proven dead, and claims are kept',
            'mount /proc where the agent runs',
          ),
        ]),
    ...(system.hasShell
      ? []
      : [
          finding(
            'system',
            'warning',
            'there is no /bin/sh: no reaper, and hooks that are lines for the shell do not run',
            'install one',
          ),
        ]),
  ];
  return orOk(findings, 'system', 'processes can be seen, and there is a shell for the reaper');
}
