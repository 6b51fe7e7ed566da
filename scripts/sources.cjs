/** Determines whether dist/ is up to date. CommonJS, which starts in less time, because every command waits for it. */
const { createHash } = require('node:crypto');
const { readdirSync, readFileSync, statSync } = require('node:fs');
const { dirname, join } = require('node:path');

const project = dirname(__dirname);

/** Everything that dist/ and packages/lab/dist/ are compiled from, and that decides how. */
const inputs = ['package.json', 'package-lock.json', 'packages', 'scripts', 'src', 'strategies'];
const outputs = new Set(['dist', 'node_modules']);

/**
 * Returns a digest of the sources. It is made from sizes and times, because reading the contents would take
 * longer. No change escapes it: nothing can set the time at which a file was changed (ctime).
 */
function sourcesNow() {
  const digest = createHash('sha256');
  for (const input of inputs) addTo(digest, input);
  return digest.digest('hex');
}

function addTo(digest, path) {
  const stat = statSync(join(project, path));
  if (!stat.isDirectory()) {
    digest.update(`${path} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}\n`);
    return;
  }
  for (const name of readdirSync(join(project, path)).toSorted())
    if (!outputs.has(name)) addTo(digest, `${path}/${name}`);
}

/** Returns the digest of the sources that dist/ was compiled from. Returns null if there is none. */
function compiledSources() {
  try {
    return JSON.parse(readFileSync(join(project, 'dist/package.json'), 'utf8')).sources ?? null;
  } catch {
    return null;
  }
}

module.exports = { compiledSources, project, sourcesNow };
