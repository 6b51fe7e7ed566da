/**
 * Logs what an elector decides and why. Writes a line whenever the decision or its reason changes. The log
 * therefore also shows why the elector does nothing.
 */

import type { Logger } from 'pino';
import type { Rules } from '../../../strategies/registry.js';
import { remainsElectedText } from '../../core/decision.js';
import type { ElectorRound } from '../../core/round.js';
import type { GroupConfig } from '../../model/group-config.js';
import { usesScores } from '../../model/read-config.js';
import { slotStates, slotView } from '../../model/slots.js';
import type { GroupSnapshot } from '../../model/snapshot.js';
import type { GroupRound } from '../../slots/group-round.js';

/** Matches a number or a duration that is not part of a name. */
const measuredValue = /(?<![\w.-])-?\d+(\.\d+)?(ms|[smhd])?\b/g;

export class DecisionLog {
  readonly #log: Logger;
  readonly #rules: Rules;
  /** Last logged reason, by slot. */
  readonly #logged = new Map<number, string>();

  constructor(log: Logger, rules: Rules) {
    this.#log = log;
    this.#rules = rules;
  }

  /**
   * Logs what has changed since the last call. If the strategy in `config` compares scores, every call finds
   * new values. Changed values are therefore not logged as long as the leader remains the same.
   */
  look({ rounds }: GroupRound, snapshot: GroupSnapshot, config: GroupConfig): void {
    const isOne = slotStates(snapshot).length === 1;
    for (const [slot, round] of rounds) {
      const log = isOne ? this.#log : this.#log.child({ slot });
      this.#lookAt(round, slotView(snapshot, slot), config, log);
    }
  }

  #lookAt(
    { choice, actions }: ElectorRound,
    { elected, slot = 1 }: GroupSnapshot,
    config: GroupConfig,
    log: Logger,
  ): void {
    if (choice === null) return;
    const { node, changes, cause, reason, ranking, ineligible } = choice;
    const isWritten = actions.some(({ do: verb }) => verb === 'write-elected') && changes;
    const isMeasured = !isWritten && node !== null && usesScores(config, this.#rules);
    const news = isMeasured ? reason.replaceAll(measuredValue, '…') : reason;
    if (news === this.#logged.get(slot)) return;
    this.#logged.set(slot, news);
    const term = (elected.value?.term ?? 0) + (isWritten ? 1 : 0);
    const fields = { term, reason, elected: node, cause, ranking, ineligible };
    log.info(fields, `${isWritten ? electingText(node) : remainsElectedText(node)}: ${reason}`);
  }
}

function electingText(node: string | null): string {
  return node === null ? 'no node is elected' : `electing ${node}`;
}
