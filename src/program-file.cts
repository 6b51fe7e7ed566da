/**
 * A program that the build has put into one file, loaded with what V8 had made of it then: to compile it again takes longer than
 * to run it. V8 takes that from itself alone: where another version runs, or with other options, the program is compiled.
 */
import crypto = require('node:crypto');
import fs = require('node:fs');
import nodeModule = require('node:module');
import path = require('node:path');
import vm = require('node:vm');

interface Loaded {
  readonly program: Pick<NodeJS.Module, 'exports'>;
  readonly script: vm.Script;
  readonly digest: Buffer;
}

/** Returns what the program exports, as `require` would. */
function loadProgram<T>(file: string): T {
  return load(file, (digest) => codeOf(file, digest)).program.exports;
}

/** Loads it, and keeps what V8 has made of it beside it. */
function keepCode(file: string): void {
  const { script, digest } = load(file, () => undefined);
  fs.writeFileSync(codeFile(file), Buffer.concat([digest, script.createCachedData()]));
}

function load(file: string, codeFor: (digest: Buffer) => Buffer | undefined): Loaded {
  const bytes = fs.readFileSync(file);
  const digest = crypto.createHash('sha256').update(bytes).digest();
  const cachedData = codeFor(digest);
  const script = new vm.Script(nodeModule.wrap(bytes.toString('utf8')), {
    filename: file,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const program: Loaded['program'] = { exports: {} };
  const run: unknown = script.runInThisContext();
  if (typeof run !== 'function') throw new TypeError(`${file} is no module of CommonJS`);
  run(program.exports, nodeModule.createRequire(file), program, file, path.dirname(file));
  return { program, script, digest };
}

/** Undefined where there is none of this very text: V8 itself looks at its length alone. */
function codeOf(file: string, digest: Buffer): Buffer | undefined {
  try {
    const kept = fs.readFileSync(codeFile(file));
    return kept.subarray(0, digest.length).equals(digest) ? kept.subarray(digest.length) : undefined;
  } catch {
    return undefined;
  }
}

function codeFile(file: string): string {
  return `${file}.code`;
}

export = { keepCode, loadProgram };
