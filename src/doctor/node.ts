/** The machine that the node is on, and what its settings name there. */
import { isOpenToOthers } from '../config/secret-file.js';
import type { Facts, NodeFacts } from './facts.js';
import { type Finding, finding, orOk } from './finding.js';

export function checkNode({ node }: Facts): Finding[] {
  return [...checkSettings(node), ...checkHooks(node), ...checkFiles(node), ...checkSystem(node)];
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

function checkFiles({ secretFiles }: NodeFacts): Finding[] {
  const open = secretFiles.filter(({ mode }) => mode !== null && isOpenToOthers(mode));
  const findings = open.map(({ path, key, mode }) => {
    const octal = ((mode ?? 0) & 0o777).toString(8).padStart(4, '0');
    return finding(
      'files',
      'error',
      `${path} (${key}) holds a secret, and its mode is ${octal}`,
      `chmod 600 ${path}`,
    );
  });
  const gone = secretFiles.filter(({ mode }) => mode === null);
  const missing = gone.map(({ path, key }) =>
    finding(
      'files',
      'error',
      `${path} (${key}) cannot be looked at`,
      'is this the agent’s user, and its machine?',
    ),
  );
  if (secretFiles.length === 0) return [];
  return orOk(
    [...findings, ...missing],
    'files',
    `nobody else may read the ${secretFiles.length} files that hold secrets`,
  );
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
            'there is no /bin/sh: no sentinel, and hooks that are lines for the shell do not run',
            'install one',
          ),
        ]),
  ];
  return orOk(findings, 'system', 'processes can be seen, and there is a shell for the sentinel');
}
