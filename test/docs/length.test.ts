/**
 * Pages for human readers are short, and their lines fit a terminal. Generated tables are on separate pages.
 */
import { expect, it } from 'vitest';
import { pages, readPage, withoutCode } from './pages.js';

const mostWords = 1600;
const widest = 120;
const read = pages().filter((page) => !page.includes('/tables/'));

it.each(read)('%s is short', (page) => {
  const words = withoutCode(readPage(page)).match(/\S*[\p{L}\p{N}]\S*/gu) ?? [];
  expect(words.length).toBeLessThan(mostWords);
});

it.each(read)('lines of %s are narrow', (page) => {
  const prose = withoutCode(readPage(page)).split('\n');
  const isWide = (line: string) =>
    line.length > widest && !line.startsWith('|') && !/^\S+$/.test(line.trim());
  expect(prose.filter(isWide)).toEqual([]);
});
