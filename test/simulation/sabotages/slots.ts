/** Sabotages of the rules about slots: who has which, what one slot has to do with another, and when there are fewer. */
import type { Sabotage } from './sabotage.js';

const others = 'src/core/other-slots.ts';
const group = 'src/core/group-electing.ts';
const elect = 'src/core/elect.ts';

const takenByOthers =
  'return [...has].flatMap(([node, [of, why]]): [string, string][] => (of === slot ? [] : [[node, why]]));';

const broken: readonly Sabotage[] = [
  {
    name: 'elects one node in two slots',
    rule: 'No node is elected in two slots',
    file: others,
    find: takenByOthers,
    replace:
      'return [...has].flatMap(([node, [of, why]]): [string, string][] => (of >= 1 ? [] : [[node, why]]));',
  },
  {
    name: 'claims a second slot before the first is given away',
    rule: 'No node leads two slots at a time: to change, it releases first, then claims',
    file: others,
    find: 'for (const [node, of, why] of [...owned, ...named])',
    replace: 'for (const [node, of, why] of [...owned.slice(0, 0), ...named])',
    also: [
      {
        file: 'src/agent/leadership.ts',
        find: 'if (this.#tenure === null) this.#slot = first;',
        replace: 'this.#slot = first;',
      },
      {
        file: 'src/core/slots.ts',
        find: 'return [...owned, ...named].map(({ slot }) => slot);',
        replace: 'return [...named, ...owned].map(({ slot }) => slot);',
      },
    ],
  },
  {
    name: 'a slot that fails moves the leaders of the others',
    rule: 'When the leader of one slot fails, that slot alone moves; nobody is moved from slot to slot',
    file: others,
    find: takenByOthers,
    replace:
      'return [...has].flatMap(([node, [of, why]]): [string, string][] => (of >= slot ? [] : [[node, why]]));',
    also: [
      {
        file: others,
        find: 'for (const [node, of, why] of [...owned, ...named])',
        replace: 'for (const [node, of, why] of [...named, ...owned])',
      },
    ],
  },
  {
    name: 'slots above leaders are kept',
    rule: 'With fewer leaders the slots above are given up',
    file: others,
    find: 'retired: slot > config.leaders ?',
    replace: 'retired: slot > config.leaders + 100 ?',
  },
  {
    name: 'slots above leaders are kept while paused',
    rule: 'With fewer leaders the slots above are given up, also while the group is paused',
    file: elect,
    find: '    retired(question) ??\n',
    replace: '    (config.paused === null ? retired(question) : null) ??\n',
  },
  {
    name: 'slots that are still held are forgotten',
    rule: 'A slot too many is there until nobody is elected in it, and it has been given away',
    file: group,
    find: '    ...held.map(({ slot }) => slot),\n',
    replace: '    ...held.map(({ slot }) => Math.min(slot, leaders)),\n',
  },
  {
    name: 'nobody misses slots that are not opened',
    rule: 'An elector that stays silent while there are to be more leaders is unseated',
    file: group,
    find: 'return opensSlots || [...rounds.values()].some(isPlainlyDue);',
    replace: 'return [...rounds.values()].some(isPlainlyDue);',
  },
  {
    name: 'one leader, and its slot is told of',
    rule: 'With one leader the znodes are what they are without slots',
    lives: 'all',
    file: group,
    find: 'const told = slots === 1 ? undefined : slots;',
    replace: 'const told = slots;',
    also: [{ file: group, find: 'slot === 1 && slots > 1 ?', replace: 'slot === 1 ?' }],
  },
  {
    name: 'higher slots are filled first',
    rule: 'With fewer fit nodes than slots the lowest are filled',
    file: group,
    find: 'placeOf(b) - placeOf(a) || a.slot - b.slot)',
    replace: 'placeOf(b) - placeOf(a) || b.slot - a.slot)',
  },
  {
    name: 'a better node takes the place of the best leader',
    rule: 'A better node takes the place of the worst of the leaders',
    file: group,
    find: "return places.get(elected.value?.node ?? '') ?? Number.MAX_SAFE_INTEGER - 1;",
    replace: "return 1000 - (places.get(elected.value?.node ?? '') ?? 1000 - (Number.MAX_SAFE_INTEGER - 1));",
  },
  {
    name: 'a slot takes the node that another waits for',
    rule: 'A better node that the worst of the leaders is to be left for goes to no other slot meanwhile',
    file: group,
    find: 'if (courts !== null) courted.set(courts, slot);',
    replace: 'if (courts !== null) courted.delete(courts);',
  },
  {
    name: 'the spread over sites is ignored',
    rule: 'Each slot in a site that holds no other, where the group is configured so',
    file: others,
    find: "if (config.siteRules.spread.over === 'any-site') return new Map();",
    replace: 'if (config.leaders > 0) return new Map();',
  },
  {
    name: 'a hard spread refuses nobody',
    rule: 'A hard spread refuses: no site has two slots',
    file: others,
    find: "if (holder === undefined || config.siteRules.spread.strength === 'soft') return [];",
    replace: 'if (holder === undefined || config.leaders > 0) return [];',
  },
  {
    name: 'a soft spread refuses',
    rule: 'A soft spread prefers: where no other site has a fit node, a site has two slots',
    file: others,
    find: "if (holder === undefined || config.siteRules.spread.strength === 'soft') return [];",
    replace: 'if (holder === undefined) return [];',
  },
  {
    name: 'an exclusion counts in its slot alone',
    rule: 'A node whose takeover failed in one slot is excluded from all',
    file: others,
    find: '  if (otherSlots === undefined) return own;\n',
    replace: '  if (otherSlots === undefined || otherSlots.slot > 0) return own;\n',
  },
  {
    name: "a failure counts under another slot's decision of the same number",
    rule: 'A failure counts under the decision that it names: of its slot',
    file: 'src/core/failed-candidate.ts',
    find: 'own?.electedVersion === version && slotOf(own) === slotOf(snapshot))',
    replace: 'own?.electedVersion === version)',
  },
  {
    name: "what is proven dead in one slot is taken for another's",
    rule: 'A fence proves the owner of one token dead: the claim of another slot is not removed for it',
    file: 'src/core/fencing.ts',
    find: 'if (memory.fenced?.token === current.token) {',
    replace: 'if (memory.fenced !== null) {',
    also: [
      {
        file: 'src/agent/elector.ts',
        find: 'if (known !== undefined) this.#memory = new Map([...this.#memory, [slot, { ...known, fenced }]]);',
        replace:
          'if (known !== undefined) this.#memory = new Map([...this.#memory].map(([of, one]) => [of, { ...one, fenced }]));',
      },
    ],
  },
  {
    name: "the history keeps one slot's last term for all",
    rule: 'Each transition is recorded once: the head knows of every slot what was recorded last',
    file: 'src/agent/commit.ts',
    find: '  if (slot === 1) return { ...head, term, fencingToken };\n',
    replace: '  if (slot >= 1) return { ...head, term, fencingToken };\n',
  },
  {
    name: 'a hook is told the first slot',
    rule: 'A hook finds its slot in PETREL_SLOT',
    file: 'src/agent/leadership.ts',
    find: 'const ofSlot = { slot: this.#slot, slots: this.#slots };',
    replace: 'const ofSlot = { slot: 1, slots: this.#slots };',
  },
];

export const slotSabotages = broken.map((sabotage): Sabotage => ({ lives: 'several-leaders', ...sabotage }));
