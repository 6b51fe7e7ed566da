/** Sabotages of the rules about sites: who may lead by them, who follows a leader that failed, when a site has failed. */
import type { Sabotage } from './sabotage.js';

const rules = 'src/core/site-rules.ts';
const memory = 'src/core/elector-memory.ts';

const broken: readonly Sabotage[] = [
  {
    name: 'a hard rule about sites refuses nobody',
    rule: 'A hard rule about sites refuses: no node of such a site is elected',
    file: rules,
    find: '.filter(({ isHard }) => isHard)',
    replace: '.filter(({ isHard }) => isHard && site.length === 0)',
  },
  {
    name: 'a failed site goes on leading',
    rule: 'No node of a failed site is elected, and a leader in it is replaced',
    file: rules,
    find: "const isHard = !declared.byRule || failed.strength === 'hard';",
    replace: 'const isHard = false;',
  },
  {
    name: 'a soft rule about sites refuses',
    rule: 'A soft rule about sites prefers: such a site leads where no other can',
    file: rules,
    find: "isHard: only.strength === 'hard' });",
    replace: 'isHard: true });',
  },
  {
    name: 'a soft rule about sites prefers nobody',
    rule: 'A soft rule about sites prefers: its nodes come after all others',
    file: rules,
    find: '  if (against.size === 0) return ranking;',
    replace: '  if (against.size >= 0) return ranking;',
  },
  {
    name: 'the successor of a leader that failed may be anywhere',
    rule: 'A leader that failed is not replaced from its own site while another site has a fit node',
    file: rules,
    find: "    config.siteRules.afterFailure.from === 'any-site' ||",
    replace: "    config.siteRules.afterFailure.strength === 'soft' ||",
    also: [
      {
        file: rules,
        find: "  return from === 'any-site' || strength === 'soft' ||",
        replace: "  return from === 'any-site' || strength.length > 0 ||",
      },
    ],
  },
  {
    name: 'a soft rule lets nobody follow',
    rule: 'A leader that failed is replaced from its own site where no other has a fit node, if the rule is soft',
    file: rules,
    find: "  return from === 'any-site' || strength === 'soft' ||",
    replace: "  return from === 'any-site' ||",
  },
  {
    name: 'a hard rule lets the own site follow',
    rule: 'A leader that failed is replaced by nobody where only its own site has a fit node, if the rule is hard',
    file: rules,
    find: "  return from === 'any-site' || strength === 'soft' ||",
    replace: "  return from === 'any-site' || strength.length > 0 ||",
  },
  {
    name: 'a site fails at once',
    rule: 'A site fails only after it has had too few nodes for as long as is configured',
    file: rules,
    find: 'durationMs(count.isEnough ? recovery : after)',
    replace: "durationMs(count.isEnough ? recovery : '0s')",
  },
  {
    name: 'a site recovers at once',
    rule: 'A site recovers only after it has had enough nodes for as long as is configured',
    file: rules,
    find: 'durationMs(count.isEnough ? recovery : after)',
    replace: "durationMs(count.isEnough ? '0s' : after)",
  },
  {
    name: 'what comes and goes is counted on',
    rule: 'Nodes of a site are counted without a break: one that comes and goes moves nothing',
    file: rules,
    find: 'return [site, isSame ? known : { isEnough, failedAt, sinceMs: nowMs }];',
    replace: 'return [site, { isEnough, failedAt, sinceMs: known?.sinceMs ?? nowMs }];',
  },
  {
    name: "a rule takes a person's verdict back",
    rule: 'What a person declared of a site no rule takes back',
    file: rules,
    find: 'if (count === undefined || (failed !== null && !failed.byRule)) continue;',
    replace: 'if (count === undefined) continue;',
    also: [
      {
        file: rules,
        find: 'minNodes > 0 || failed?.byRule === true)',
        replace: 'minNodes > 0 || failed !== null)',
      },
    ],
  },
  {
    name: 'a person who recovers a site is not listened to for long',
    rule: 'What a person says of a site begins a new count',
    file: rules,
    find: 'known?.isEnough === isEnough && known.failedAt === failedAt;',
    replace: 'known?.isEnough === isEnough;',
  },
  {
    name: 'the next in line counts the nodes of sites, too',
    rule: 'A new elector begins to count the nodes of sites anew: what it saw before it saw only now and again',
    file: memory,
    find: '  if (seat === null || seat.below !== null) return null;\n  const counts = before?.seat === seat.name ? before.counts : new Map();',
    replace: '  if (seat === null) return null;\n  const counts = before?.counts ?? new Map();',
  },
  {
    name: 'verdicts on sites slept through',
    rule: 'A site is declared failed, or whole again, when the time for that is over',
    file: rules,
    find: '    if (leftMs > 0) waits.push(leftMs);',
    replace: '    if (leftMs > 0) continue;',
  },
];

export const siteSabotages = broken.map((sabotage): Sabotage => ({ ...sabotage, lives: 'site-rules' }));
