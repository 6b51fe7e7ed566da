/** Tests that count for the mutants of some files. They run inside one process and take seconds. */
export interface Kind {
  /** Folders whose files these tests judge, or single files. The first kind that names a file judges it. */
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
  // Inside the test's process: messages, output, and the shipped workload and guard on a simulated machine.
  hooks: {
    folders: ['src/hooks'],
    include: [
      'test/hooks/{agent-death,alarm,command,group-register,guard,guard-deadlines}.test.ts',
      'test/hooks/{guarded-leadership,guards,hanging,health-checks,hook-process,late-deaths}.test.ts',
      'test/hooks/{messages.properties,outcomes,output,process-group,process-state}.test.ts',
      'test/hooks/{random-leaderships,random-runs,restarting-workload,secret-variables}.test.ts',
      'test/hooks/{supervised-leases,supervised-requests,supervisor-death,taken-back}.test.ts',
    ],
    exclude: [],
    needsServer: false,
  },
  // Inside the test's process: a dead agent's session, messages, and the shared lease.
  guardian: {
    folders: ['channel', 'held-session', 'messages', 'report', 'requests', 'shared-lease'].map(
      (name) => `src/guardian/${name}.ts`,
    ),
    include: [
      'test/guardian/{channel,held-session-time,messages,report,requests,shared-lease}.test.ts',
      'test/hooks/messages.properties.test.ts',
    ],
    exclude: [],
    needsServer: false,
  },
  // A session whose servers are byte streams in memory, in time that the test moves.
  sessions: {
    folders: ['connection', 'failure', 'frames', 'reconnecting', 'session', 'store', 'watch-frames'].map(
      (name) => `src/zookeeper/${name}.ts`,
    ),
    include: ['test/zookeeper/{calls,connection,frames,session}.test.ts'],
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

/**
 * Returns the name of the kind of all files, which are relative to the project. Throws an Error whose message
 * is for the user if a file has no kind, or if the files are of several kinds.
 */
export function kindOf(files: readonly string[]): string {
  const named = files.map((file) => ({ file, kind: kindOfFile(file) }));
  const [kind, ...others] = new Set(named.map((one) => one.kind));
  if (kind !== undefined && others.length === 0) return kind;
  const list = named.map((one) => `${one.file} (${one.kind})`).join(', ');
  throw new Error(`files of several kinds: ${list}; run each kind separately`);
}

function kindOfFile(file: string): string {
  const folders = Object.values(kinds).flatMap((one) => one.folders);
  const found = Object.entries(kinds).find(([, one]) =>
    one.folders.some((folder) => file === folder || file.startsWith(`${folder}/`)),
  );
  if (found !== undefined) return found[0];
  throw new Error(`no tests judge ${file}: name files below ${folders.join(', ')}`);
}
