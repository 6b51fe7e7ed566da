/** How far a long run is, on stderr, where somebody looks: a terminal. */
import { Presets, SingleBar } from 'cli-progress';

export interface Progress {
  at(done: number): void;
  /** Takes it off the screen; more than once does no harm. */
  end(): void;
}

export function progressBar(total: number): Progress {
  const bar = new SingleBar(
    {
      format: '{bar} {percentage} % | {value} of {total} runs | {eta_formatted} left',
      clearOnComplete: true,
      // Short, instead of having the terminal cut it off: interrupted, it would be left so.
      barsize: 24,
      linewrap: true,
    },
    Presets.shades_classic,
  );
  if (process.stderr.isTTY && total > 0) bar.start(total, 0);
  return { at: (done) => bar.update(done), end: () => bar.stop() };
}
