/**
 * Secrets that a node reads from files at its start alone. A new content takes a restart, as a new path does.
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

/** Digests, by the setting that names the file. */
export type HeldSecrets = ReadonlyMap<string, string>;

export function heldSecrets(settings: Named): HeldSecrets {
  return new Map(
    held.flatMap(({ name }): [string, string][] => {
      const digest = digestOf(settings[name]);
      return digest === null ? [] : [[name, digest]];
    }),
  );
}

/** Settings that name the same file as before, which holds another secret now. */
export function replacedSecrets(before: HeldSecrets, first: Named, now: Named): SettingName[] {
  const present = heldSecrets(now);
  return held.filter(({ name }) => {
    const isKnown = before.has(name) && present.has(name) && first[name] === now[name];
    return isKnown && before.get(name) !== present.get(name);
  });
}

/** Null: there is none, or it cannot be read, which is reported where it is used. */
function digestOf(path: string | null): string | null {
  try {
    return path === null ? null : createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return null;
  }
}
