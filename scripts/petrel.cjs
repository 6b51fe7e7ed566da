/**
 * Runs the command line of this clone. Whatever is missing or out of date is installed and compiled first, so
 * the program always corresponds to the sources.
 */
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { compiledSources, project, sourcesNow } = require('./sources.cjs');

const main = join(project, 'dist/src/cli/main.js');
const isOutOfDate = () => compiledSources() !== sourcesNow();

async function prepare() {
  const { alone, compile, installMissing } = await import('./prepare.mjs');
  await alone(async () => {
    await installMissing({ withTests: false });
    if (isOutOfDate()) await compile();
  });
}

function run() {
  // The program starts itself again as `process.argv[1]`, which is therefore the compiled file.
  process.argv[1] = main;
  require(main);
}

if (existsSync(join(project, 'node_modules')) && !isOutOfDate()) run();
else prepare().then(run);
