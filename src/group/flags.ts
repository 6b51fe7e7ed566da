/** Flags: conditions that operators name and set, for conditional rules. */
import type { Request } from './change.js';

export function setFlag(flag: string): Request {
  return ({ config, byHand }) => {
    const current = Object.hasOwn(config.flags, flag) ? config.flags[flag] : undefined;
    if (current !== undefined) {
      const { by, at, reason } = current;
      return { config: null, what: `flag ${flag} is already set, by ${by} at ${at}: ${reason}` };
    }
    return { config: { ...config, flags: { ...config.flags, [flag]: byHand } }, what: `flag ${flag}: set` };
  };
}

export function clearFlag(flag: string): Request {
  return ({ config }) => {
    if (!Object.hasOwn(config.flags, flag)) return { config: null, what: `flag ${flag} is not set` };
    const flags = Object.fromEntries(Object.entries(config.flags).filter(([name]) => name !== flag));
    return { config: { ...config, flags }, what: `flag ${flag}: cleared` };
  };
}
