/**
 * A program that the build has put into one file, loaded with what V8 had made of it by the end of a rehearsal: to compile it again
 * takes longer than to run it. V8 takes that from itself alone: where another version runs, or with other options, the program is
 * compiled.
 */
import crypto = require('node:crypto');
import fs = require('node:fs');
import nodeModule = require('node:module');
import path = require('node:path');
import vm = require('node:vm');

interface Loaded {
  readonly file: string;
  readonly script: vm.Script;
  readonly digest: Buffer;
}

const loaded: Loaded[] = [];

/** Keeps what V8 has made so far of all that was loaded in this process, each beside its file. */
function keepCode(): void {
  for (const { file, script, digest } of loaded)
    fs.writeFileSync(codeFile(file), Buffer.concat([digest, script.createCachedData()]));
}

/** Returns what the program exports, as `require` would. */
function loadProgram<T>(file: string): T {
  const bytes = fs.readFileSync(file);
  const digest = crypto.createHash('sha256').update(bytes).digest();
  const cachedData = codeOf(file, digest);
  const script = new vm.Script(nodeModule.wrap(bytes.toString('utf8')), {
    filename: file,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  loaded.push({ file, script, digest });
  const program: Pick<NodeJS.Module, 'exports'> = { exports: {} };
  const run: unknown = script.runInThisContext();
  if (typeof run !== 'function') throw new TypeError(`${file} is no module of CommonJS`);
  run(program.exports, nodeModule.createRequire(file), program, file, path.dirname(file));
  return program.exports;
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
