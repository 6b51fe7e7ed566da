/** Acts on a claim whose owner does not release it: runs the fence hook and removes the claim. */
import type { Logger } from 'pino';
import type { ElectorMemory, Fence } from '../../core/round.js';
import { present } from '../../errors.js';
import { doubledMs, durationMs, formatDuration } from '../../model/duration.js';
import type { GroupConfig } from '../../model/group-config.js';
import { decided } from '../../model/log-context.js';
import { type GroupPaths, pathsOfSlot } from '../../model/paths.js';
import { slotOf, slotStates } from '../../model/slots.js';
import { initialElected } from '../../model/znodes.js';
import type { Clock } from '../../ports/clock.js';
import type { Operation } from '../../ports/store.js';
import type { Workload } from '../../ports/workload.js';
import { ifStillTrue } from '../conditional-write.js';
import { hookContext } from '../leadership/hook-context.js';
import { checkSeat, heldSeats } from '../membership.js';
import type { ElectorTurn } from './turn.js';

/**
 * Longest pause between attempts to fence, in ms. No node leads until an attempt succeeds, the claim ends, or
 * an operator intervenes.
 */
const longestPauseMs = 60_000;

/**
 * Returns the pause after `count` failed attempts to fence the owner of a claim. `timeoutMs` is the timeout
 * of one attempt.
 */
export function fencePauseMs(timeoutMs: number, count: number): number {
  return doubledMs(timeoutMs, longestPauseMs, count);
}

export type FenceNews = Partial<Pick<ElectorMemory, 'fenced' | 'failedFences'>>;

/** The parts of the elector that fencing uses. */
export interface FencingElector {
  config(): GroupConfig;
  known(slot: number): ElectorMemory | undefined;
  remember(slot: number, news: FenceNews): void;
  /**
   * Discards the current reading of the ensemble's clock. The next decision that needs the clock must then
   * read it again, with a write.
   */
  forgetClock(): void;
}

export interface FencerOptions {
  readonly node: string;
  readonly site: string;
  readonly paths: GroupPaths;
  readonly workload: Workload;
  readonly clock: Clock;
  readonly log: Logger;
  wake(): void;
}

export class Fencer {
  readonly #options: FencerOptions;
  readonly #elector: FencingElector;
  /** Tokens of the claims whose owners are being fenced or must not be fenced again yet. */
  readonly #fencing = new Set<bigint>();

  constructor(options: FencerOptions, elector: FencingElector) {
    this.#options = options;
    this.#elector = elector;
  }

  /**
   * Runs the fence hook for a claim. Does nothing if the hook is already running, or if it is too early for a
   * retry. Retries after increasing pauses while the claim exists.
   */
  fence(turn: ElectorTurn, fence: Fence): void {
    if (this.#fencing.has(fence.token)) return;
    this.#fencing.add(fence.token);
    const { workload, node, site, paths, wake, clock } = this.#options;
    const { known, remember, forgetClock } = this.#elector;
    const config = this.#elector.config();
    const slot = slotOf(turn.snapshot);
    const about = decided(turn.snapshot);
    const log = this.#options.log.child({ ...about, target: fence.node });
    log.warn(`fencing ${fence.node}, which still owns leader/current`);
    const place = { node, site, root: paths.root, slot, slots: slotStates(turn.snapshot).length };
    const reason = `${fence.node} did not release leadership in time: ${about.reason}`;
    const run = workload.run(
      hookContext(
        { ...place, phase: 'fence', fencingToken: null, reason, target: fence.node },
        turn.snapshot.elected.value ?? initialElected,
        config,
      ),
    );
    void run.outcome.then((outcome) => {
      const mayTryAgain = () => {
        this.#fencing.delete(fence.token);
        wake();
      };
      if (outcome.result === 'ok') {
        log.warn(`fenced ${fence.node}: its claim will be removed`);
        remember(slot, { fenced: fence });
        mayTryAgain();
      } else {
        const { token } = fence;
        const before = known(slot)?.failedFences ?? null;
        const count = before?.token === token ? before.count + 1 : 1;
        const pauseMs = fencePauseMs(durationMs(config.timeouts.fence), count);
        remember(slot, { failedFences: { token, count } });
        const again = `next attempt in ${formatDuration(pauseMs)}`;
        log.error({ error: outcome.error }, `fencing ${fence.node} failed (${again}): ${outcome.error}`);
        // After the pause, the ensemble's clock must be read again with a write.
        clock.timer(pauseMs, () => {
          forgetClock();
          mayTryAgain();
        });
      }
    });
  }

  /**
   * Removes the claim and the seat of an owner that is proven dead. Does nothing if any part of the state
   * that `fence` describes has changed.
   */
  async removeClaim(turn: ElectorTurn, fence: Fence): Promise<void> {
    const { store, snapshot } = turn;
    const paths = pathsOfSlot(this.#options.paths, slotOf(snapshot));
    const { owner } = present(snapshot.current, 'the claim of a fenced node');
    const seats = await heldSeats(store, paths, fence.node, owner);
    const candidate = fence.electedNode;
    const operations: Operation[] = [
      checkSeat(this.#options.paths, turn.seat),
      { type: 'check', path: paths.elected, version: fence.electedVersion },
      ...(candidate === null
        ? []
        : [{ type: 'check', path: paths.node(candidate.node), version: candidate.version } as const]),
      ...seats.map((seat) => ({ type: 'delete', path: paths.seat(seat), version: 'any' }) as const),
      { type: 'delete', path: paths.current, version: fence.claimVersion },
    ];
    const done = await ifStillTrue(() => store.multi(operations));
    this.#elector.remember(slotOf(snapshot), { fenced: null });
    if (done !== null)
      this.#options.log.warn(
        { ...decided(snapshot), target: fence.node },
        `removed the claim of the fenced node ${fence.node}`,
      );
  }
}
