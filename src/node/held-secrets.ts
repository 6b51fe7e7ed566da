/**
 * Secrets that a node reads from files only when it starts. If such a file or its path changes, the node must
 * be restarted.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SettingName } from '../config/read-settings.js';
import type { AgentSettings } from '../config/settings.js';

type Named = Pick<AgentSettings, 'authFile' | 'probeSecretFile'>;

const held = [
  { name: 'authFile', key: 'authFile' },
  { name: 'probeSecretFile', key: 'probe.secretFile' },
] as const;

/** Digests of the secrets, keyed by the name of the setting that names the file. */
export type HeldSecrets = ReadonlyMap<string, string>;

export function heldSecrets(settings: Named): HeldSecrets {
  return new Map(
    held.flatMap(({ name }): [string, string][] => {
      const digest = digestOf(settings[name]);
      return digest === null ? [] : [[name, digest]];
    }),
  );
}

/** Returns the settings whose path has not changed but whose file now contains a different secret. */
export function replacedSecrets(before: HeldSecrets, first: Named, now: Named): SettingName[] {
  const present = heldSecrets(now);
  return held.filter(({ name }) => {
    const isKnown = before.has(name) && present.has(name) && first[name] === now[name];
    return isKnown && before.get(name) !== present.get(name);
  });
}

/**
 * Returns the digest of a file. Returns null if there is no file or it cannot be read. A read error is
 * reported where the file is used.
 */
function digestOf(path: string | null): string | null {
  try {
    return path === null ? null : createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return null;
  }
}
