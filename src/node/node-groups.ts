/**
 * The groups that a node is in. They are independent of one another. If a group cannot be joined (no
 * permission, duplicate node id, a hook that cannot be executed), the node tries again. This does not affect
 * the other groups. When a group is no longer wanted, the node leaves it gracefully.
 */
import type { AgentSettings } from '../config/settings.js';
import { errorMessage, PetrelError } from '../errors.js';
import type { Logger } from '../log.js';
import type { Clock } from '../ports/clock.js';
import type { NodeGroup } from './node-group.js';
import { type LiveSettings, liveChange } from './reload.js';

export interface NodeGroupsOptions {
  /** Opens a group. Throws PetrelError if the group cannot be opened. */
  open(settings: AgentSettings, log: Logger): Promise<NodeGroup>;
  /** Returns the reason why the group cannot be joined now. Null if it can be joined. */
  ineligibleReason(root: string): string | null;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when a group has been left, or could not be joined. */
  onGone(root: string): void;
  /** Called when the set of groups has changed. */
  onGroups(): void;
}

const retryMs = 10_000;

interface Place {
  settings: AgentSettings;
  inForce: LiveSettings | null;
  group: NodeGroup | null;
  isWanted: boolean;
  /** Whether ZooKeeper denied permission at the last attempt to join or use the group. */
  isRefused: boolean;
  rouse: () => void;
  readonly log: Logger;
}

export class NodeGroups {
  readonly #options: NodeGroupsOptions;
  readonly #places = new Map<string, Place>();
  #isLeaving = false;
  #allLeft: () => void = () => {};
  /** Resolves when all groups have been left after `stop`. No group is joined after that. */
  readonly over: Promise<void>;

  constructor(options: NodeGroupsOptions) {
    this.#options = options;
    this.over = new Promise((resolve) => {
      this.#allLeft = resolve;
    });
  }

  /** The open groups, ordered by root. */
  all(): readonly NodeGroup[] {
    const roots = [...this.#places.keys()].toSorted();
    return roots.flatMap((root) => this.#places.get(root)?.group ?? []);
  }

  /** Number of wanted groups. */
  get size(): number {
    return [...this.#places.values()].filter(({ isWanted }) => isWanted).length;
  }

  /** Number of wanted groups for which ZooKeeper denies this node permission. */
  get refused(): number {
    const isRefused = ({ isWanted, isRefused, group }: Place) =>
      isWanted && isRefused && group?.agent.status.joined !== true;
    return [...this.#places.values()].filter(isRefused).length;
  }

  /**
   * Joins the groups in `wanted`. If the node has already joined a group, applies its settings. Leaves every
   * group that is not in `wanted`.
   */
  use(wanted: ReadonlyMap<string, AgentSettings>): void {
    if (this.#isLeaving) return;
    for (const [root, place] of this.#places) {
      if (place.isWanted && !wanted.has(root)) this.#leave(root, place);
    }
    for (const [root, settings] of wanted) {
      const place = this.#places.get(root);
      if (place === undefined) this.#join(root, settings);
      else this.#change(place, settings);
    }
    this.#options.onGroups();
  }

  /** Leaves all groups. On a second call, no longer waits for successors. */
  stop(): void {
    this.#isLeaving = true;
    for (const place of this.#places.values()) {
      place.isWanted = false;
      place.group?.agent.stop();
      place.rouse();
    }
    if (this.#places.size === 0) this.#allLeft();
  }

  #leave(root: string, place: Place): void {
    place.log.info(`leaving ${root}: it is no longer among the groups of this node`);
    place.isWanted = false;
    place.group?.agent.stop();
    place.rouse();
  }

  #join(root: string, settings: AgentSettings): void {
    const log = this.#options.log.child({ root });
    const place = {
      settings,
      inForce: null,
      group: null,
      isWanted: true,
      isRefused: false,
      rouse: () => {},
      log,
    };
    this.#places.set(root, place);
    void this.#live(root, place).then(() => {
      this.#places.delete(root);
      if (this.#isLeaving && this.#places.size === 0) this.#allLeft();
    });
  }

  #change(place: Place, settings: AgentSettings): void {
    const before = place.settings;
    place.settings = settings;
    place.isWanted = true;
    if (place.group === null || place.inForce === null) {
      place.rouse();
      return;
    }
    const { inForce, changed } = liveChange(place.inForce, settings);
    place.inForce = inForce;
    if (changed.length > 0) {
      place.group.use(inForce);
      place.log.info(`settings reloaded: ${changed.join(', ')}`);
    }
    const hooks = (['onTakeover', 'onRelease', 'onFence', 'onPrepare'] as const).filter(
      (name) => JSON.stringify(before[name]) !== JSON.stringify(settings[name]),
    );
    if (hooks.length > 0)
      place.log.warn(
        { settings: hooks },
        `these settings take effect when the node joins the group again: ${hooks.join(', ')}`,
      );
  }

  /** Runs the group until it is no longer wanted and has been left. Never rejects. */
  async #live(root: string, place: Place): Promise<void> {
    const { onGone } = this.#options;
    while (place.isWanted) {
      const problem = await this.#tryToLive(root, place).then(
        () => null,
        (error: unknown) => error,
      );
      place.group = null;
      place.isRefused = problem instanceof PetrelError && problem.code === 'FORBIDDEN';
      onGone(root);
      if (problem === null || !place.isWanted) continue;
      const reasons = problem instanceof PetrelError ? problem.reasons : [];
      const text = `${errorMessage(problem)}; retrying in ${retryMs / 1000} s`;
      place.log.error({ error: problem, reasons }, text);
      await this.#pause(place);
    }
  }

  async #tryToLive(root: string, place: Place): Promise<void> {
    const { open, ineligibleReason, onGroups } = this.#options;
    const why = ineligibleReason(root);
    if (why !== null) throw new PetrelError('FAILED', why);
    const { settings } = place;
    const group = await open(settings, place.log);
    place.group = group;
    place.inForce = settings;
    try {
      if (place.settings !== settings) this.#change(place, place.settings);
      if (!place.isWanted) group.agent.stop();
      onGroups();
      await group.run();
    } finally {
      await group.close();
    }
  }

  async #pause(place: Place): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.timer(retryMs, resolve);
      place.rouse = () => {
        cancel();
        resolve();
      };
    });
    place.rouse = () => {};
  }
}
