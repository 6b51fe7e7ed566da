/** Root path of the displayed group, if the page's address names it. An agent may be in several groups. */
let root: string | null = null;

/** Reads the group from `search`, the query part of the page's address, for example `?root=/services/db`. */
export function showGroupOf(search: string): void {
  root = new URLSearchParams(search).get('root');
}

/** Adds the page's group to the path of a call. */
export function ofGroup(path: string): string {
  if (root === null) return path;
  return `${path}${path.includes('?') ? '&' : '?'}root=${encodeURIComponent(root)}`;
}
