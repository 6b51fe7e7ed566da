/**
 * Sabotages of the rules about slots: which node gets which slot, how slots affect each other, and what
 * happens if the number of slots falls.
 */
import type { Sabotage } from './sabotage.js';

const broken: readonly Sabotage[] = [
  {
    name: 'elects one node in two slots',
    rule: 'No node is elected in two slots',
    in: 'takenBy',
    find: 'of === slot ? [] : [[node, why]]',
    replace: 'of >= 1 ? [] : [[node, why]]',
  },
  {
    name: 'claims a second slot before the first is released',
    rule: 'No node leads two slots at a time: to change, it releases first, then claims',
    in: 'takenBy',
    find: '[...owned, ...named]',
    replace: '[...owned.slice(0, 0), ...named]',
    also: [
      {
        in: 'LeadershipRunner#inSlot',
        find: 'if (this.#leadership === null) this.#slot = first;',
        replace: 'this.#slot = first;',
      },
      {
        in: 'slotsOfNode',
        find: '[...owned, ...named]',
        replace: '[...named, ...owned]',
      },
    ],
  },
  {
    name: 'a slot that fails moves the leaders of the others',
    rule: 'When the leader of one slot fails, that slot alone moves; nobody is moved from slot to slot',
    in: 'takenBy',
    find: 'of === slot ? [] : [[node, why]]',
    replace: 'of >= slot ? [] : [[node, why]]',
    also: [
      {
        in: 'takenBy',
        find: '[...owned, ...named]',
        replace: '[...named, ...owned]',
      },
    ],
  },
  {
    name: 'slots above leaders are kept',
    rule: 'With fewer leaders the slots above are given up',
    in: 'elsewhereOf',
    find: 'slot > config.leaders ? givenUpReason(config.leaders, slot) : null',
    replace: 'slot > config.leaders + 100 ? givenUpReason(config.leaders, slot) : null',
  },
  {
    name: 'slots above leaders are kept while paused',
    rule: 'With fewer leaders the slots above are given up, also while the group is paused',
    in: 'elect',
    find: 'retired(elected, elsewhere.retired)',
    replace: '(input.config.paused === null ? retired(elected, elsewhere.retired) : null)',
  },
  {
    name: 'slots that are still held are forgotten',
    rule: 'A surplus slot exists until no node is elected in it, and it has been released',
    in: 'slotsWanted',
    find: '({ slot }) => slot',
    replace: '({ slot }) => Math.min(slot, leaders)',
  },
  {
    name: 'nobody misses slots that are not opened',
    rule: 'An elector that stays silent while there are to be more leaders is unseated',
    in: 'isGroupDue',
    find: 'opensSlots || [...rounds.values()].some(isPlainlyDue)',
    replace: '[...rounds.values()].some(isPlainlyDue)',
  },
  {
    name: 'one leader, and its slot is written',
    rule: 'With one leader the znodes are what they are without slots',
    lives: 'all',
    in: 'withSlots',
    find: 'slots === 1 ? undefined : slots',
    replace: 'slots',
    also: [
      {
        in: 'withSlots',
        find: 'slot === 1 && slots > 1 ? { ...elected, slots } : elected',
        replace: 'slot === 1 ? { ...elected, slots } : elected',
      },
    ],
  },
  {
    name: 'higher slots are filled first',
    rule: 'With fewer eligible nodes than slots the lowest are filled',
    in: 'slotsInOrder',
    find: 'a.slot - b.slot',
    replace: 'b.slot - a.slot',
  },
  {
    name: 'a better node takes the place of the best leader',
    rule: 'A better node takes the place of the worst of the leaders',
    in: 'slotsInOrder',
    find: `place ?? Number.MAX_SAFE_INTEGER - 1`,
    replace: `1000 - (places.get(elected.value?.node ?? '') ?? 1000 - (Number.MAX_SAFE_INTEGER - 1))`,
  },
  {
    name: 'a slot takes the node that another waits for',
    rule: 'A better node that the worst of the leaders is to be left for goes to no other slot meanwhile',
    in: 'throughSlots',
    find: 'reserved.set(reserves, slot)',
    replace: 'reserved.delete(reserves)',
  },
  {
    name: 'the spread over sites is ignored',
    rule: 'Each slot in a site that holds no other, where the group is configured so',
    in: 'spread.ts spread',
    find: `over === 'any-site'`,
    replace: 'config.leaders > 0',
  },
  {
    name: 'a hard spread refuses nobody',
    rule: 'A hard spread refuses: no site has two slots',
    in: 'spread.ts spread',
    find: 'return { strength, ',
    replace: `return { strength: site.length === 0 ? strength : 'soft', `,
  },
  {
    name: 'a soft spread refuses',
    rule: 'A soft spread prefers: where no other site has an eligible node, a site has two slots',
    in: 'spread.ts spread',
    find: 'return { strength, ',
    replace: `return { strength: site.length === 0 ? strength : 'hard', `,
  },
  {
    name: 'a backoff counts in its slot alone',
    rule: 'A node whose takeover failed in one slot is in backoff from all',
    in: 'withFailuresOfOthers',
    find: 'for (const record of failures)',
    replace: 'for (const record of failures.slice(failures.length))',
  },
  {
    name: "a failure counts under another slot's decision of the same number",
    rule: 'A failure counts under the decision that it names: of its slot',
    in: 'membersOfSlot',
    find: 'slotOf(failure) === slot',
    replace: 'slotOf(failure) === slot || slot > 0',
  },
  {
    name: "what is proven dead in one slot is taken for another's",
    rule: 'A fence proves the owner of one token dead: the claim of another slot is not removed for it',
    in: 'stuckLeaderActions',
    find: 'memory.fenced?.token === current.token',
    replace: 'memory.fenced !== null',
    also: [
      {
        in: 'Elector#remember',
        find: '[...this.#memory, [slot, { ...known, ...news }]]',
        replace: '[...this.#memory].map(([of, one]) => [of, { ...one, ...news }])',
      },
    ],
  },
  {
    name: "the history keeps one slot's last term for all",
    rule: 'Each transition is recorded once: the head knows of every slot what was recorded last',
    in: 'commit.ts withRecord',
    find: 'if (slot === 1) return { ...head, term, fencingToken };',
    replace: 'if (slot >= 1) return { ...head, term, fencingToken };',
  },
  {
    name: 'a hook gets the first slot',
    rule: 'A hook finds its slot in PETREL_SLOT',
    in: 'LeadershipRunner#context',
    find: 'slot: this.#slot',
    replace: 'slot: 1',
  },
];

export const slotSabotages = broken.map((sabotage): Sabotage => ({ lives: 'several-leaders', ...sabotage }));
