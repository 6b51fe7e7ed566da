/** Compiles a program when it is loaded. */
import v8 from 'node:v8';

/**
 * Calls `load`, which loads modules, and compiles all their functions. From then on, this process keeps all
 * compiled code. By default, V8 compiles a function when it is first called, and discards the code of rarely
 * called functions. The functions of a handover are called rarely. Compiling them would then take longer than
 * the rest of the handover. Modules that are loaded later are compiled as usual.
 */
export async function compiledEarly<T>(load: () => Promise<T>): Promise<T> {
  v8.setFlagsFromString('--no-flush-bytecode');
  v8.setFlagsFromString('--no-lazy');
  try {
    return await load();
  } finally {
    v8.setFlagsFromString('--lazy');
  }
}
