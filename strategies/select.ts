/**
 * Returns the `k`-th smallest of `values`, counted from 1. Runs in linear time on average, and reorders
 * `values` (Hoare's selection).
 */
export function kthSmallest(values: Float64Array, k: number): number {
  const at = (index: number) => values[index] ?? Number.NaN;
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = at((low + high) >> 1);
    let left = low;
    let right = high;
    while (left <= right) {
      while (at(left) < pivot) left += 1;
      while (at(right) > pivot) right -= 1;
      if (left > right) break;
      const moved = at(left);
      values[left] = at(right);
      values[right] = moved;
      left += 1;
      right -= 1;
    }
    if (k - 1 <= right) high = right;
    else if (k - 1 >= left) low = left;
    else break;
  }
  return at(k - 1);
}
