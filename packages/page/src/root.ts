/** The group that the page shows: the one named in the page's address, if the agent is in several. */
let root: string | null = null;

/** `search`: the query of the page's address, like ?root=/services/db. */
export function showGroupOf(search: string): void {
  root = new URLSearchParams(search).get('root');
}

/** Returns a call's path with the page's group. */
export function ofGroup(path: string): string {
  if (root === null) return path;
  return `${path}${path.includes('?') ? '&' : '?'}root=${encodeURIComponent(root)}`;
}
