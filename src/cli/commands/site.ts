/** Defines the commands `petrel site …`, which act on all nodes of a site at once. */

import type { Command } from 'commander';
import * as z from 'zod';
import type { Request } from '../../group/change.js';
import { withAnswers } from '../../group/judge.js';
import { listing, siteListingSchema } from '../../group/listing.js';
import {
  drainSite,
  forgetSite,
  markSiteFailed,
  markSiteHealthy,
  overridePriority,
  resetPriority,
  undrainSite,
} from '../../group/sites.js';
import type { GroupView } from '../../group/view.js';
import { defaultGroupConfig, type GroupConfig, siteConfig } from '../../model/group-config.js';
import { duration, name, wholeNumber } from '../arguments.js';
import { changeOptions, runChange } from '../change.js';
import { helpText } from '../help-text.js';
import { type Layout, table, unlimited } from '../layout.js';
import { forTerminal, type Printable } from '../output.js';
import { untilText } from '../times.js';
import { show, watchOption } from '../watch.js';

export const siteListSchema = z.object({
  root: z.string(),
  sites: z.array(
    siteListingSchema.extend({
      /** Configured priority, regardless of any override. */
      configuredPriority: z.int(),
      nodes: z.array(z.string()),
    }),
  ),
});
type SiteList = z.infer<typeof siteListSchema>;

const prioritySchema = z.object({ for: z.number().optional() });
const unknownSchema = z.object({ allowUnknown: z.boolean().default(false) });

/** Adds the option for sites that have neither nodes nor settings yet. */
function unknownOption(command: Command): Command {
  return command.option('--allow-unknown', 'accept a site that has no nodes and no settings yet');
}

export function addSite(program: Command): void {
  const site = program.command('site').description('maintain a site: act on all its nodes at once');
  site
    .command('list')
    .description('show sites with their priorities and nodes')
    .addOption(watchOption())
    .action(async (_options, command: Command) => {
      await show(command, async (group, nowMs) =>
        withAnswers(group, (view) => printable(siteList(view, nowMs), nowMs)),
      );
    });
  changeOptions(
    unknownOption(site.command('priority'))
      .summary('override a site’s priority, for a limited time or until it is reset')
      .description(
        'override a site’s priority, for a limited time or until petrel site reset; nodes of a site with priority 0 never lead. When a temporary override ends, the previous priority or override applies again',
      )
      .argument('<site>', 'site name', name)
      .argument('<n>', 'priority, 0 to 1000000; higher is better', wholeNumber(0, 1_000_000))
      .option(
        '--for <duration>',
        'duration of the override, such as 2h (default: until petrel site reset)',
        duration,
      ),
  )
    .addHelpText(
      'after',
      helpText(
        '\nExamples:\n  petrel site priority a 0 --for 2h --reason "switch replacement"\n  petrel site priority a 0 --dry-run',
      ),
    )
    .action(async (siteName: string, priority: number, _options, command: Command) => {
      const forMs = prioritySchema.parse(command.opts()).for ?? null;
      const { allowUnknown } = unknownSchema.parse(command.opts());
      await runChange(command, {
        request: overridePriority({ site: siteName, priority, forMs, allowUnknown }),
        until: 'settled',
      });
    });
  addSiteChange(site, 'reset', 'end all priority overrides of a site', resetPriority);
  addUnknownSiteChange(site, 'drain', 'take a site out of service: its nodes are not elected', drainSite);
  addSiteChange(site, 'undrain', 'put a drained site back into service', undrainSite);
  addUnknownSiteChange(
    site,
    'mark-failed',
    'mark a site failed: its leader is replaced, as after a failure',
    markSiteFailed,
  );
  addSiteChange(
    site,
    'mark-healthy',
    'mark a failed site healthy: its nodes can be elected again',
    markSiteHealthy,
  );
  addSiteChange(
    site,
    'forget',
    'remove all settings of a site that no longer exists; refused while nodes are registered in it',
    forgetSite,
  );
}

function addSiteChange(
  parent: Command,
  verb: string,
  description: string,
  request: (site: string) => Request,
): void {
  changeOptions(parent.command(verb).description(description).argument('<site>', 'site name', name)).action(
    async (site: string, _options, command: Command) => {
      await runChange(command, { request: request(site), until: 'settled' });
    },
  );
}

function addUnknownSiteChange(
  parent: Command,
  verb: string,
  description: string,
  request: (site: string, allowUnknown: boolean) => Request,
): void {
  const made = parent.command(verb).description(description).argument('<site>', 'site name', name);
  changeOptions(unknownOption(made)).action(async (site: string, _options, command: Command) => {
    const { allowUnknown } = unknownSchema.parse(command.opts());
    await runChange(command, { request: request(site, allowUnknown), until: 'settled' });
  });
}

function siteList(view: GroupView, nowMs: number): SiteList {
  const config: GroupConfig = view.config.value ?? defaultGroupConfig;
  const { root, sites, nodes } = listing(view, nowMs);
  return {
    root,
    sites: sites.map((entry) => ({
      ...entry,
      configuredPriority: siteConfig(config, entry.site).priority,
      nodes: nodes.filter(({ site }) => site === entry.site).map(({ node }) => node),
    })),
  };
}

function printable(list: SiteList, nowMs: number): Printable {
  const header = ['site', 'priority', 'configured', 'state', 'nodes', 'override'];
  const cells = (sites: SiteList['sites'], layout: Layout) =>
    sites.map((site) => [
      site.site,
      String(site.priority),
      String(site.configuredPriority),
      stateOf(site),
      site.nodes.join(',') || '-',
      overrideText(site, nowMs, layout),
    ]);
  return {
    json: list,
    rows: [header, ...cells(list.sites, unlimited)],
    pretty: (layout) => table(header, cells(forTerminal(siteListSchema, list).sites, layout), layout),
  };
}

function stateOf({ failed, drained }: SiteList['sites'][number]): string {
  if (failed !== null) return 'failed';
  return drained === null ? 'in service' : 'drained';
}

function overrideText({ override }: SiteList['sites'][number], nowMs: number, layout: Layout): string {
  if (override === null) return '-';
  const { priority, until, priorityAfter, by, reason } = override;
  const end =
    until === null ? 'until it is reset' : `${untilText(until, nowMs, layout)}, then ${priorityAfter}`;
  return `${priority} ${end}, by ${by}: ${reason}`;
}
