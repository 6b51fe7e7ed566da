/**
 * Builds the requests that set watches again on a new connection, in frames that are small enough for a
 * server.
 */
import type ConnectionManager from 'node-zookeeper-client/lib/ConnectionManager.js';

/** Approximate size of a frame in bytes, far below a server's limit. */
const watchFrameBytes = 128 * 1024;

interface WatchFrame {
  readonly data: string[];
  readonly existence: string[];
  readonly children: string[];
}

export function watchFrames(watches: ConnectionManager['watcherManager']): WatchFrame[] {
  const frames: WatchFrame[] = [];
  let bytes = watchFrameBytes;
  const add = (kind: keyof WatchFrame, path: string) => {
    if (bytes >= watchFrameBytes) {
      frames.push({ data: [], existence: [], children: [] });
      bytes = 0;
    }
    frames.at(-1)?.[kind].push(path);
    bytes += Buffer.byteLength(path);
  };
  for (const path of watches.getDataWatcherPaths()) add('data', path);
  for (const path of watches.getExistenceWatcherPaths()) add('existence', path);
  for (const path of watches.getChildWatcherPaths()) add('children', path);
  return frames;
}
