/** Defines the command `petrel zookeeper`, which runs only the embedded development server. */
import { type Command, Option } from 'commander';
import * as z from 'zod';
import {
  type DevelopmentServer,
  type DevelopmentServerOptions,
  startDevelopmentServer,
} from '../../embedded/server.js';
import { errorMessage, isAddressInUse, PetrelError } from '../../errors.js';
import { createLogger } from '../../log.js';
import { wholeNumber } from '../arguments.js';
import { print } from '../output.js';
import { readClientSettings } from '../settings.js';

const optionsSchema = z.object({ port: z.int(), host: z.string() });

export const serverSchema = z.object({ connectString: z.string() });

export function addZooKeeper(program: Command): void {
  program
    .command('zookeeper')
    .summary('run an in-memory ZooKeeper for development')
    .description('run an in-memory ZooKeeper for development and tests; its data is lost when it stops')
    .addOption(
      new Option('--port <n>', 'port to listen on; 0: any free port')
        .argParser(wholeNumber(0, 65_535))
        .default(2181),
    )
    .option('--host <address>', 'address to listen on (no access control)', '127.0.0.1')
    .action(async (_options, command: Command) => {
      const { port, host } = optionsSchema.parse(command.opts());
      const { settings, logLevel } = await readClientSettings(command);
      const logger = createLogger({ level: logLevel, format: settings.logFormat });
      const end = untilSignal();
      await using server = await start({ port, host, logger });
      const { connectString } = server;
      const result: z.infer<typeof serverSchema> = { connectString };
      print(settings.format, {
        json: result,
        rows: [['connect string'], [connectString]],
        pretty: () =>
          `Development ZooKeeper listening on ${connectString}. SIGINT (Ctrl-C) or SIGTERM stops it and deletes its data`,
      });
      await end;
    });
}

/** Starts the server. If the port is in use, the error also names the options that choose another port. */
async function start(options: DevelopmentServerOptions): Promise<DevelopmentServer> {
  try {
    return await startDevelopmentServer(options);
  } catch (error) {
    if (!isAddressInUse(error)) throw error;
    const remedy = 'choose another with --port, or use --port 0';
    throw new PetrelError('FAILED', `${errorMessage(error)}: ${remedy}`, { cause: error });
  }
}

/** Resolves when the process receives SIGINT or SIGTERM. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve()).once('SIGTERM', () => resolve());
  });
}
