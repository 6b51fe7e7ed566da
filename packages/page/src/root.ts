/** Which group the page shows: the one that its own address names, where the agent is in several. */
let root: string | null = null;

/** `search`: of the page's address, like ?root=/services/db. */
export function showGroupOf(search: string): void {
  root = new URLSearchParams(search).get('root');
}

/** A call's path, for the page's group. */
export function ofGroup(path: string): string {
  if (root === null) return path;
  return `${path}${path.includes('?') ? '&' : '?'}root=${encodeURIComponent(root)}`;
}
