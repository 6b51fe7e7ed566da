/** Required by a process of the rehearsal before it begins: at its end, what V8 has made of its program is kept. */
const v8 = require('node:v8');
const { keepCode } = require('../dist/src/program-file.cjs');

process.on('exit', () => {
  // What is made under other flags than a process starts with is not taken by one; a guardian sets these.
  for (const flag of ['--opt', '--sparkplug', '--no-expose-gc']) v8.setFlagsFromString(flag);
  keepCode();
});
