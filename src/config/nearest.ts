/** Suggests corrections for misspelled words. */
import { distance } from 'fastest-levenshtein';

const longestWord = 200;

/**
 * Returns the known word that `word` most likely misspells. Returns undefined if no known word is similar.
 * Words that differ in up to `leastFar` letters always count as similar.
 */
export function nearestOf(word: string, known: readonly string[], leastFar = 2): string | undefined {
  if (word.length > longestWord) return undefined;
  const far = Math.max(leastFar, Math.floor(word.length / 3));
  const ranked = known
    .map((candidate) => ({ candidate, far: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.far - b.far);
  const best = ranked[0];
  return best !== undefined && best.far <= far ? best.candidate : undefined;
}

/**
 * Returns the known dotted keys that are most similar to `word`, the most similar first. A key is as similar
 * as its most similar part.
 */
export function nearestKeys(word: string, known: readonly string[], most: number): string[] {
  const wanted = word.slice(0, longestWord).toLowerCase();
  const far = (key: string) =>
    Math.min(...[key, ...key.split('.')].map((part) => distance(wanted, part.toLowerCase())));
  return known.toSorted((one, other) => far(one) - far(other)).slice(0, most);
}
