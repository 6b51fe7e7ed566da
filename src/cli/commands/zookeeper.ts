/** Defines the command `petrel zookeeper`, which runs only the embedded development server. */
import { type Command, Option } from 'commander';
import * as z from 'zod';
import { startDevelopmentServer } from '../../embedded/server.js';
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
      await using server = await startDevelopmentServer({ port, host, logger });
      const { connectString } = server;
      const result: z.infer<typeof serverSchema> = { connectString };
      print(settings.format, {
        json: result,
        rows: [['connect string'], [connectString]],
        pretty: () =>
          `Development ZooKeeper listening on ${connectString}. Ctrl-C stops it and deletes its data`,
      });
      await end;
    });
}

/** Resolves when the process receives SIGINT or SIGTERM. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve()).once('SIGTERM', () => resolve());
  });
}
