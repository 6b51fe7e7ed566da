/** Defines the command `petrel doctor`, which checks a deployment. */
import type { Command } from 'commander';
import * as z from 'zod';
import { settingsByRoot } from '../../config/group-settings.js';
import { readSettings, settingOptions } from '../../config/read-settings.js';
import { type AgentSettings, agentSettings, clientSettings } from '../../config/settings.js';
import { examine } from '../../doctor/examine.js';
import { type Finding, findingSchema } from '../../doctor/finding.js';
import { gatherFacts } from '../../doctor/gather.js';
import { exitCodes } from '../../exit-code.js';
import { createLogger } from '../../log.js';
import { oneLine } from '../../model/outside.js';
import { systemClock } from '../../ports/clock.js';
import { helpText } from '../help-text.js';
import { type Printable, print } from '../output.js';
import { type Style, styled } from '../style.js';
import { chosenRoot } from '../which-group.js';

const doctorSettings = agentSettings.extend(clientSettings.shape);

export const doctorSchema = z.object({ findings: z.array(findingSchema) });

export function addDoctor(program: Command): void {
  const doctor = program
    .command('doctor')
    .summary('find problems, and say how to fix them')
    .description(
      'check the servers, the session, the group and this machine, and say how to fix each problem',
    )
    .addHelpText('after', helpText(help))
    .action(async (_options, command: Command) => {
      const sources = { flags: command.optsWithGlobals(), env: process.env };
      const { values, described, warnings, unreadable } = await readSettings(
        doctorSettings,
        sources,
        'reported',
      );
      const root = await chosenRoot(values.root, described, sources);
      for (const warning of warnings) process.stderr.write(`petrel: ${warning}\n`);
      const isSet = described.some(({ key, source }) => key === 'logLevel' && source !== 'default');
      const level = isSet ? values.logLevel : 'silent';
      const log = createLogger({ level, format: values.logFormat });
      const settings = ofGroup({ ...values, root });
      const facts = { settings, described, unreadable, clock: systemClock, log };
      const findings = examine(await gatherFacts(facts));
      print(values.format, printable(findings));
      const hasErrors = findings.some(({ severity }) => severity === 'error');
      process.exitCode = hasErrors ? exitCodes.failed : exitCodes.done;
    });
  const common = settingOptions(clientSettings).map(({ long }) => long);
  for (const option of settingOptions(agentSettings)) {
    if (!common.includes(option.long)) doctor.addOption(option);
  }
}

/** Returns the settings with the hooks and scores from the group's entry in `groups`. */
function ofGroup<T extends AgentSettings>(settings: T): T {
  const own = settingsByRoot(settings, []).get(settings.root);
  return own === undefined ? settings : { ...settings, ...own, groups: settings.groups };
}

const help = `
Run it on the agent’s machine, as the agent’s user, and with the agent’s settings (--config),
so that it also finds anything that would keep the agent from starting.
It writes only the group’s clock znode, and runs no hooks.

Exit codes: 0 no errors (warnings are possible); 1 at least one error; 2 invalid settings.

Example:
  petrel doctor -c /etc/petrel/agent.yaml`;

const styles: Readonly<Record<Finding['severity'], Style>> = {
  ok: 'green',
  note: 'dim',
  warning: 'yellow',
  error: 'red',
};

function printable(findings: readonly Finding[]): Printable {
  const result: z.infer<typeof doctorSchema> = { findings: [...findings] };
  return {
    json: result,
    rows: [
      ['severity', 'check', 'what', 'to do'],
      ...findings.map(({ severity, check, what, todo }) => [severity, check, what, todo ?? '']),
    ],
    pretty: () => findings.map(pretty).join('\n'),
  };
}

function pretty({ severity, check, what, todo }: Finding): string {
  const head = `${styled(styles[severity], severity.padEnd(8))} ${check.padEnd(12)} ${oneLine(what)}`;
  return todo === null ? head : `${head}\n${' '.repeat(22)}→ ${oneLine(todo)}`;
}
