/** Which tests count for the mutants of which folders. They run inside one process and take seconds. */
export interface Kind {
  /** Folders whose files these tests judge. */
  readonly folders: readonly string[];
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Whether the tests use the shared embedded server. */
  readonly needsServer: boolean;
}

export const kinds: Readonly<Record<string, Kind>> = {
  pure: {
    folders: ['src/core', 'src/lease', 'src/slots', 'strategies'],
    include: ['test/{core,lease,slots,strategies}/**/*.test.ts'],
    // These try whole state spaces and hundreds of simulated hours. One run takes longer than all other tests
    // together.
    exclude: ['test/core/{convergence,life,noise}.test.ts'],
    needsServer: false,
  },
  // Commands, guards and leadership on a simulated machine, inside the test's process.
  hooks: {
    folders: ['src/hooks'],
    include: [
      'test/hooks/{guard,hanging,late-deaths,random-leaderships,random-runs,taken-back,messages.properties,output}.test.ts',
    ],
    exclude: [],
    needsServer: false,
  },
  zookeeper: {
    folders: ['src/zookeeper'],
    include: ['test/zookeeper/**/*.test.ts'],
    // These wait for sessions to end and for servers to come back, or build the package.
    exclude: ['test/zookeeper/{store,faults-of-connections,faults-of-requests,finding-servers}.test.ts'],
    needsServer: true,
  },
};

/** Returns the kind of all files. Throws if there is none, or if there are several. */
export function kindOf(files: readonly string[]): string {
  const found = files.map((file) => nameFor(file));
  const [kind, ...others] = new Set(found);
  if (kind !== undefined && others.length === 0) return kind;
  throw new Error(
    'name files of one kind: src/core, src/lease, src/slots and strategies are one, src/hooks and src/zookeeper are others',
  );
}

function nameFor(file: string): string {
  const found = Object.entries(kinds).find(([, { folders }]) =>
    folders.some((one) => file.startsWith(`${one}/`)),
  );
  if (found !== undefined) return found[0];
  throw new Error(
    `no tests judge ${file}: name files below ${Object.values(kinds)
      .flatMap(({ folders }) => folders)
      .join(', ')}`,
  );
}
