/** The library as it is shipped: one file, with what V8 has made of it. */
import path = require('node:path');
import programFile = require('./program-file.cjs');

const library: typeof import('./index.js', { with: { 'resolution-mode': 'import' }}) =
  programFile.loadProgram(path.join(__dirname, 'index.cjs'));

const { Petrel, PetrelError, StoreError } = library;
// Whoever imports this has its names looked for in its text.
export = { Petrel, PetrelError, StoreError };
