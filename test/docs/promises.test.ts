/** The counts on the page of promises are those of the project. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sabotages } from '../simulation/sabotages/index.js';

function page(path: string): string {
  return readFileSync(new URL(`../../docs/reports/${path}`, import.meta.url), 'utf8');
}

const promises = page('promises.md');

it('counts the faults that were found', () => {
  const parts = ['electing', 'inputs', 'leases', 'operators', 'processes'];
  const faults = parts.flatMap((part) => page(`faults/${part}.md`).match(/^- \*\*/gm) ?? []);
  expect(promises).toContain(`lists ${faults.length} faults`);
});

it('counts the rules that a sabotage breaks', () => {
  expect(promises).toContain(`while one of ${sabotages.length} rules of the code is broken`);
});
