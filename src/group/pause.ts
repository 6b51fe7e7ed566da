/** Pauses and resumes a group. A paused group makes no automatic transitions. */
import type { Request } from './change.js';

export const pauseGroup: Request = ({ config, byHand }) => {
  const { paused } = config;
  if (paused !== null) {
    return {
      config: null,
      what: `the group is already paused, by ${paused.by} at ${paused.at}: ${paused.reason}`,
    };
  }
  return { config: { ...config, paused: byHand }, what: 'paused' };
};

export const resumeGroup: Request = ({ config, byHand }) => {
  if (config.paused === null) return { config: null, what: 'the group is not paused' };
  return {
    config: { ...config, paused: null, resumed: byHand },
    what: `resumed (paused by ${config.paused.by})`,
  };
};
