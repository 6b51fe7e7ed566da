/** Required by a process of the rehearsal before it begins: at its end, what V8 has made of its program is kept. */
const { keepCode } = require('../dist/src/program-file.cjs');

process.on('exit', keepCode);
