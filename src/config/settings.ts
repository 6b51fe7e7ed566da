/** Settings of one process, by kind: an agent, `petrel run`, or a command that shows or changes a group. */
import * as z from 'zod';
import { restartPolicies } from '../hooks/restarting-workload.js';
import { durationInMs } from '../model/duration.js';
import { groupList, groupsFromText } from './group-list.js';
import { listen } from './http-settings.js';
import { commonSettings, nodeSettings, wholeNumber } from './node-settings.js';
import { setting } from './setting.js';

/** Settings of an agent that is in several groups. */
export const groupsSettings = {
  groups: setting(groupList(nodeSettings.shape).prefault([]), {
    key: 'groups',
    env: 'PETREL_GROUPS',
    help: 'groups of this node, each with its root and its own settings; in the variable, as JSON',
    fromText: groupsFromText,
  }),
  groupsUnder: setting(commonSettings.shape.root.unwrap().nullable().prefault(null), {
    key: 'groupsUnder',
    flags: '--groups-under <path>',
    env: 'PETREL_GROUPS_UNDER',
    help: 'join every child of this path in ZooKeeper as a group',
  }),
};

/** Settings of an agent. */
export const agentSettings = nodeSettings.extend(groupsSettings);

/**
 * Settings of `petrel run`: those of an agent, without the hooks for takeover and release. The command that
 * is passed to `petrel run` replaces these two hooks.
 */
export const runSettings = nodeSettings.omit({ onTakeover: true, onRelease: true }).extend({
  nodeId: setting(nodeSettings.shape.nodeId.clone(), {
    key: 'nodeId',
    flags: '--node-id <id>',
    env: 'PETREL_NODE_ID',
    help: 'id of this node, unique in the group',
    defaultText: 'the host name; with a number appended if another petrel run on this machine uses it',
  }),
  /** HTTP is off by default, because many `petrel run` processes may run on one machine. */
  httpListen: listen('off', 'off'),
  restart: setting(z.enum(restartPolicies, `expected one of ${restartPolicies.join(', ')}`).prefault('no'), {
    key: 'run.restart',
    flags: '--restart <policy>',
    env: 'PETREL_RESTART',
    help: `when to restart the command if it exits on its own: ${restartPolicies.join(', ')}`,
  }),
  restartLimit: setting(
    z
      .int('expected a whole number')
      .min(0, 'expected at least 0')
      .max(1000, 'expected at most 1000')
      .prefault(3),
    {
      key: 'run.restartLimit',
      flags: '--restart-limit <n>',
      env: 'PETREL_RESTART_LIMIT',
      help: 'highest number of consecutive failures after which the command is restarted; after one more, leadership is handed over',
      fromText: wholeNumber,
    },
  ),
});

export const outputFormats = ['pretty', 'wide', 'json', 'yaml', 'tsv'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** Settings of commands that show or change a group. */
export const clientSettings = commonSettings.extend({
  format: setting(z.enum(outputFormats, `expected one of ${outputFormats.join(', ')}`).prefault('pretty'), {
    key: 'format',
    flags: '-f, --format <format>',
    env: 'PETREL_FORMAT',
    help: `output format: ${outputFormats.join(', ')}; wide is pretty with all columns and exact times`,
  }),
  connectTimeoutMs: setting(durationInMs({ minMs: 100, maxMs: 3_600_000 }).prefault('5s'), {
    key: 'connectTimeout',
    flags: '--connect-timeout <duration>',
    env: 'PETREL_CONNECT_TIMEOUT',
    help: 'timeout for connecting to ZooKeeper',
  }),
  waitTimeoutMs: setting(durationInMs().nullable().prefault(null), {
    key: 'waitTimeout',
    flags: '--wait-timeout <duration>',
    env: 'PETREL_WAIT_TIMEOUT',
    help: 'timeout for the outcome of a transition',
    defaultText: 'the group’s own limit for a transition',
  }),
});

/** All settings that a settings file may contain. */
export const allSettings = agentSettings.extend(runSettings.shape).extend(clientSettings.shape);

export type CommonSettings = z.output<typeof commonSettings>;
export type ClientSettings = z.output<typeof clientSettings>;
export type AgentSettings = z.output<typeof agentSettings>;
export type RunSettings = z.output<typeof runSettings>;
