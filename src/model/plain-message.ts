/**
 * Rewrites the schema library's own messages in plain words. Messages that Petrel's schemas define are
 * returned unchanged.
 */
export function plainMessage(message: string): string {
  const rule = rules.find(([pattern]) => pattern.test(message));
  return rule === undefined ? message : message.replace(...rule);
}

const types: Readonly<Record<string, string>> = {
  array: 'a list',
  bigint: 'a whole number',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'keys with values',
  record: 'keys with values',
  string: 'a string',
};

function typeText(type: string): string {
  return types[type] ?? type;
}

const bounds: Readonly<Record<string, string>> = {
  '>=': 'at least',
  '>': 'more than',
  '<=': 'at most',
  '<': 'less than',
  exactly: 'exactly',
};

type Rule = readonly [pattern: RegExp, toPlain: (...match: string[]) => string];

const rules: readonly Rule[] = [
  [
    /^Invalid input: expected (\w+), received undefined$/,
    (_, type = '') => `missing: expected ${typeText(type)}`,
  ],
  // YAML parses `site: 1` as a number, so the message explains that quotes are needed.
  [
    /^Invalid input: expected string, received (number|boolean)$/,
    (_, found = '') => `expected a string, found a ${found}: write it in quotes`,
  ],
  [
    /^Invalid input: expected (\w+), received (\w+)$/,
    (_, type = '', found = '') =>
      `expected ${typeText(type)}, found ${found === 'null' ? 'null' : typeText(found)}`,
  ],
  [/^Invalid input: expected (.+)$/, (_, value = '') => `expected ${value}`],
  [
    /^Invalid option: expected one of (.+)$/,
    (_, values = '') => `expected one of ${values.replaceAll('|', ', ')}`,
  ],
  [
    /^Too (?:small|big): expected \w+ to have (>=|>|<=|<|exactly) ?(\d+) (\w+)$/,
    (_, bound = '', size = '', units = '') =>
      `expected ${bounds[bound]} ${size} ${size === '1' ? units.replace(/s$/, '') : units}`,
  ],
  [
    /^Too (?:small|big): expected \w+ to be (>=|>|<=|<|exactly) ?(\S+)$/,
    (_, bound = '', limit = '') => `expected a number of ${bounds[bound]} ${limit}`,
  ],
  [/^Unrecognized keys?: (.+)$/, (_, keys = '') => `unknown ${keys}`],
  [/^Invalid ISO datetime$/, () => 'expected a timestamp such as 2026-01-31T02:00:00Z'],
  [/^Invalid (?:string|number): (.+)$/, (_, must = '') => must],
  [/^Invalid input$/, () => 'the value is not valid'],
];
