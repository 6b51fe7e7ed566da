/** Writes files of the build. A program that starts during a build never reads half a file. */
import { renameSync, writeFileSync } from 'node:fs';

export function writeWhole(path, data) {
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, data);
  renameSync(unfinished, path);
}
