/** Output for people fits the terminal. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { table, unlimited, wrapped } from '../../src/cli/layout.js';
import { holds } from '../support/properties.js';

const narrow = (width: number) => ({ isWide: false, width });

describe('a table', () => {
  const header = ['node', 'roles', 'site priority', 'score', 'eligible'];
  const rows = [
    ['a1', 'elector', '100', '-', 'yes'],
    ['b1', '', '50', '', 'yes'],
  ];

  it('leaves out columns without content, unless it is wide', () => {
    const options = { wideOnly: ['roles'], idle: { eligible: 'yes' } };
    expect(table(header, rows, { isWide: false, width: null }, options)).toBe(
      ['NODE  SITE PRIORITY', 'a1    100', 'b1    50'].join('\n'),
    );
    expect(table(header, rows, unlimited, options)).toBe(
      [
        'NODE  ROLES    SITE PRIORITY  SCORE  ELIGIBLE',
        'a1    elector  100            -      yes',
        'b1             50                    yes',
      ].join('\n'),
    );
  });

  it('breaks titles, then wraps the last column', () => {
    const long = [['a1', '100', 'the node has the best connection to all others']];
    expect(table(['node', 'site priority', 'why'], long, narrow(44))).toBe(
      [
        'NODE  SITE      WHY',
        '      PRIORITY',
        'a1    100       the node has the best',
        '                connection to all others',
      ].join('\n'),
    );
  });

  it('becomes paragraphs where there is no room for columns', () => {
    const wide = [['a-node-with-a-long-name', 'elector', 'it has the best connection to all others']];
    expect(table(['node', 'roles', 'why'], wide, narrow(40))).toBe(
      [
        'NODE a-node-with-a-long-name',
        '  ROLES  elector',
        '  WHY    it has the best connection to',
        '         all others',
      ].join('\n'),
    );
  });

  it('is never broader than the terminal if its words are not', async () => {
    const word = fc.stringMatching(/^[a-z0-9]{1,12}$/);
    const cell = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '));
    const columns = fc.array(cell, { minLength: 3, maxLength: 3 });
    const words = (text: string) => text.split(/\s+/).filter((one) => one !== '');
    const rowsOfCells = fc.array(columns, { minLength: 1, maxLength: 4 });
    const property = fc.property(rowsOfCells, fc.integer({ min: 40, max: 120 }), (cells, width) => {
      const text = wrapped(table(['node', 'site priority', 'why'], cells, narrow(width)), width);
      expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(width);
      expect(words(text)).toEqual(expect.arrayContaining(words(cells.flat().join(' '))));
    });
    await holds(property);
  });
});

describe('text', () => {
  it('is wrapped between words, below the text of its item', () => {
    expect(wrapped('Elected: a1, because it is the best of all', 24)).toBe(
      ['Elected: a1, because it', '  is the best of all'].join('\n'),
    );
    expect(wrapped('  --slot <n>  slot of the term that is shown', 30)).toBe(
      ['  --slot <n>  slot of the term', '              that is shown'].join('\n'),
    );
  });

  it('keeps examples whole', () => {
    const example = '  petrel site priority a 0 --for 2h --reason "switch replacement"';
    expect(wrapped(example, 40)).toBe(example);
  });
});
