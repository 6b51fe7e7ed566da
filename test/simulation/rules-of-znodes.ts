/** Rules about which znodes outlive the session that created them. */
import { readZnode } from './ledger.js';
import type { Rule, RuleContext } from './rules.js';

export function znodeRules({ paths, violate }: RuleContext): Rule {
  const ephemeral = [`${paths.nodes}/`, `${paths.election}/`, paths.current];

  return ({ commit, write }) => {
    if (write === null) return;
    const truth = { database: commit.truth, session: write.session };
    for (const { type, path } of commit.changes) {
      if (type !== 'created') continue;
      const owner = readZnode(truth, path)?.stat.ephemeralOwner;
      const diesWithMaker = ephemeral.some((prefix) => path.startsWith(prefix));
      if (owner === undefined || (owner !== 0n) === diesWithMaker) continue;
      violate(9, `${path} is made to ${diesWithMaker ? 'outlive' : 'end with'} its maker`);
    }
  };
}
