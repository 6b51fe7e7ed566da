/** Shows the progress of a long run on stderr, if stderr is a terminal. */
import { Presets, SingleBar } from 'cli-progress';

export interface Progress {
  at(done: number): void;
  /** Removes the progress bar from the screen. May be called more than once. */
  end(): void;
}

export function progressBar(total: number): Progress {
  const bar = new SingleBar(
    {
      format: '{bar} {percentage} % | {value} of {total} runs | {eta_formatted} left',
      clearOnComplete: true,
      // The bar is short, so the terminal's line wrap can stay enabled. If the bar disabled line wrap, an
      // interrupt would leave it disabled.
      barsize: 24,
      linewrap: true,
    },
    Presets.shades_classic,
  );
  if (process.stderr.isTTY && total > 0) bar.start(total, 0);
  return { at: (done) => bar.update(done), end: () => bar.stop() };
}
