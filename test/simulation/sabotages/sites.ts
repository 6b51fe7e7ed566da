/**
 * Sabotages of the rules about sites: which nodes may lead, which nodes may follow a failed leader, and when
 * a site has failed.
 */
import type { Sabotage } from './sabotage.js';

const broken: readonly Sabotage[] = [
  {
    name: 'a hard rule about sites refuses nobody',
    rule: 'A hard rule about sites refuses: no node of such a site is elected',
    in: 'siteNotAllowed',
    find: 'return { strength, ',
    replace: `return { strength: site.length === 0 ? strength : 'soft', `,
  },
  {
    name: 'a failed site goes on leading',
    rule: 'No node of a failed site is elected, and a leader in it is replaced',
    in: 'siteFailed',
    find: 'return { strength, ',
    replace: `return { strength: site.length === 0 ? strength : 'soft', `,
  },
  {
    name: 'a soft rule about sites refuses',
    rule: 'A soft rule about sites prefers: such a site leads where no other can',
    in: 'siteNotAllowed',
    find: 'return { strength, ',
    replace: `return { strength: site.length === 0 ? strength : 'hard', `,
  },
  {
    name: 'a soft rule about sites prefers nobody',
    rule: 'A soft rule about sites prefers: its nodes come after all others',
    in: 'bySoftConstraints',
    find: 'softReasons.length > 0',
    replace: 'softReasons.length < 0',
  },
  {
    name: 'the successor of a leader that failed may be anywhere',
    rule: 'A leader that failed is not replaced from its own site while another site has an eligible node',
    in: 'bestBySite',
    find: `config.siteRules.afterFailure.from === 'any-site'`,
    replace: `config.siteRules.afterFailure.strength === 'soft'`,
    also: [
      {
        in: 'mayFollow',
        find: `strength === 'soft'`,
        replace: 'strength.length > 0',
      },
    ],
  },
  {
    name: 'a soft rule lets nobody follow',
    rule: 'A leader that failed is replaced from its own site where no other has an eligible node, if the rule is soft',
    in: 'mayFollow',
    find: `from === 'any-site' || strength === 'soft' || failedSite === null`,
    replace: `from === 'any-site' || failedSite === null`,
  },
  {
    name: 'a hard rule lets the own site follow',
    rule: 'A leader that failed is replaced by nobody where only its own site has an eligible node, if the rule is hard',
    in: 'mayFollow',
    find: `strength === 'soft'`,
    replace: 'strength.length > 0',
  },
  {
    name: 'a site fails at once',
    rule: 'A site fails only after it has had too few nodes for as long as is configured',
    in: 'judgeSites',
    find: 'count.isEnough ? recovery : after',
    replace: `count.isEnough ? recovery : '0s'`,
  },
  {
    name: 'a site recovers at once',
    rule: 'A site recovers only after it has had enough nodes for as long as is configured',
    in: 'judgeSites',
    find: 'count.isEnough ? recovery : after',
    replace: `count.isEnough ? '0s' : after`,
  },
  {
    name: 'what comes and goes is counted on',
    rule: 'Nodes of a site are counted without a break: one that comes and goes moves nothing',
    in: 'countSites',
    find: 'isSame ? known : { isEnough, failedAt, sinceMs: nowMs }',
    replace: '{ isEnough, failedAt, sinceMs: known?.sinceMs ?? nowMs }',
  },
  {
    name: "a rule takes a person's verdict back",
    rule: 'What a person declared of a site no rule takes back',
    in: 'judgeSites',
    find: 'count === undefined || (failed !== null && !failed.byRule)',
    replace: 'count === undefined',
    also: [
      {
        in: 'ruled',
        find: 'failed?.byRule === true',
        replace: 'failed !== null',
      },
    ],
  },
  {
    name: 'a person who recovers a site is not listened to for long',
    rule: 'What a person says of a site begins a new count',
    in: 'countSites',
    find: 'known?.isEnough === isEnough && known.failedAt === failedAt',
    replace: 'known?.isEnough === isEnough',
  },
  {
    name: 'the next elector counts the nodes of sites, too',
    rule: 'A new elector starts to count the nodes of sites again: what it saw before, it saw only now and then',
    in: 'elector-memory.ts look',
    find: 'before.sites?.seat === seat?.name ? before.sites?.counts : undefined',
    replace: 'before.sites?.counts',
    also: [
      {
        in: 'elector-memory.ts look',
        find: 'seat === null || seat.below !== null',
        replace: 'seat === null',
      },
    ],
  },
  {
    name: 'verdicts on sites slept through',
    rule: 'A site is declared failed, or whole again, when the time for that is over',
    in: 'judgeSites',
    find: 'waits.push(leftMs)',
    replace: 'continue',
  },
];

export const siteSabotages = broken.map((sabotage): Sabotage => ({ ...sabotage, lives: 'site-rules' }));
