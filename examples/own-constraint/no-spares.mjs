// A custom constraint: a node with the tag `spare` never leads, unless an operator has set the flag
// `use-spares`.

/** @type {import('petrel/strategies').OwnConstraint} */
const noSpares = {
  name: 'no-spares',
  version: '1.0.0',
  description: 'it is a spare',
  check: ({ tags }, { flags }) => {
    if (!Object.hasOwn(tags, 'spare') || flags.includes('use-spares')) return null;
    return { strength: 'hard', reason: 'it is a spare, and the flag use-spares is not set' };
  },
};

export default noSpares;
