/** Says what an elector decides and why: one line for each new decision or standing reason, so that the log tells why
 * nothing happens, too. */
import type { Logger } from 'pino';
import type { ElectorRound } from '../core/electing.js';
import type { GroupConfig } from '../core/group-config.js';
import { usesScores } from '../core/read-config.js';
import type { GroupSnapshot } from '../core/snapshot.js';

/** A number, or a length of time, that is no part of a name. */
const measuredValue = /(?<![\w.-])-?\d+(\.\d+)?(ms|[smhd])?\b/g;

export class DecisionLog {
  readonly #log: Logger;
  #told = '';

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Where `config` has scores compared, it is no news of a standing leader that a value has moved: each look finds others. */
  look({ choice, actions }: ElectorRound, { elected }: GroupSnapshot, config: GroupConfig): void {
    if (choice === null) return;
    const { node, changes, cause, reason, ranking, unfit } = choice;
    const isWritten = actions.some(({ do: verb }) => verb === 'write-elected') && changes;
    const isMeasured = !isWritten && node !== null && usesScores(config);
    const news = isMeasured ? reason.replaceAll(measuredValue, '…') : reason;
    if (news === this.#told) return;
    this.#told = news;
    const term = (elected.value?.term ?? 0) + (isWritten ? 1 : 0);
    const verb = isWritten ? 'electing' : 'elected stays';
    const fields = { term, reason, elected: node, cause, ranking, unfit };
    this.#log.info(fields, `${verb} ${node ?? 'nobody'}: ${reason}`);
  }
}
