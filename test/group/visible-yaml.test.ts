import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { visibleYaml } from '../../src/group/visible-yaml.js';

it.each([
  ['plain', 'a: b\n'],
  ['two\nlines', undefined],
  ['turned \u202e round', 'a: "turned \\u202e round"\n'],
  ['\u009b31m', 'a: "\\u009b31m"\n'],
  ['\u001b[31m\u2028\u200b', undefined],
  ['a tag \u{e0041}', 'a: "a tag \\U000e0041"\n'],
  ['\ufeff: # "x" \\u202e', undefined],
])('YAML of %j shows all that it says', (text, expected) => {
  const value = { a: text === 'plain' ? 'b' : text, [`key ${text}`]: [{ deep: text }], affinity: 1 };
  const yaml = visibleYaml(value);
  expect(parse(yaml)).toEqual(value);
  expect(yaml).not.toMatch(/[^\P{C}\n]|[\u2028\u2029]/u);
  if (expected !== undefined) expect(yaml.startsWith(expected)).toBe(true);
});
