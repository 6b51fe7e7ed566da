/**
 * Global functions that are blocked while a pure function runs. They give access to the clock, randomness and
 * the network. Anything that a module imports or has saved earlier is not blocked. Blocking these functions
 * catches mistakes, but does not prevent deliberate use.
 */
const hidden: readonly (readonly [object, string])[] = [
  [Date, 'now'],
  [Math, 'random'],
  [performance, 'now'],
  [globalThis, 'fetch'],
  [globalThis, 'setTimeout'],
  [globalThis, 'setInterval'],
  [globalThis, 'setImmediate'],
  [globalThis, 'queueMicrotask'],
];

/** Runs `work` while side effects are blocked. `what` names the kind of function in error messages. */
export function withoutSideEffects<T>(what: 'strategy' | 'constraint', work: () => T): T {
  const refuse = (use: string): never => {
    throw new Error(`a ${what} must be a pure function and cannot use ${use}`);
  };
  const kept = hidden.map(([owner, key]) => Object.getOwnPropertyDescriptor(owner, key));
  const { Date: dates } = globalThis;
  try {
    for (const [owner, key] of hidden)
      Object.defineProperty(owner, key, { value: () => refuse(key), writable: true, configurable: true });
    globalThis.Date = new Proxy(dates, {
      construct: (target, args) =>
        args.length === 0 ? refuse('new Date()') : Reflect.construct(target, args),
    });
    return work();
  } finally {
    globalThis.Date = dates;
    for (const [index, [owner, key]] of hidden.entries()) restore(owner, key, kept[index]);
  }
}

/** Restores a property to its earlier state. A property that was inherited is inherited again. */
function restore(owner: object, key: string, descriptor: PropertyDescriptor | undefined): void {
  if (descriptor === undefined) Reflect.deleteProperty(owner, key);
  else Object.defineProperty(owner, key, descriptor);
}
