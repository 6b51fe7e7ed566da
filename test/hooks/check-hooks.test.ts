import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkHooks } from '../../src/hooks/check-hooks.js';
import type { Command } from '../../src/hooks/command.js';
import { bench } from './support.js';

const at = bench();

it('finds programs that are missing or not executable, without running any', async () => {
  const script = join(at().directory, 'script');
  writeFileSync(script, '#!/bin/sh\necho x > $DIR/ran\n');
  const commands: Record<string, Command | null> = {
    onTakeover: [script],
    onRelease: ['/no/such/program', '--now'],
    onFence: ['no-such-program-here'],
    onPrepare: ['sh', '-c', 'true'],
    healthCheck: 'whatever the shell says',
  };
  expect(await checkHooks(commands)).toEqual([
    `onTakeover: program "${script}" is not executable`,
    'onRelease: program "/no/such/program" not found',
    'onFence: program "no-such-program-here" not found',
  ]);
  chmodSync(script, 0o755);
  expect(await checkHooks({ onTakeover: [script], onFence: null })).toEqual([]);
  expect(await checkHooks({ onTakeover: [at().directory] })).toEqual([
    `onTakeover: program "${at().directory}" is not executable`,
  ]);
  expect(at().lines('ran')).toEqual([]);
});
