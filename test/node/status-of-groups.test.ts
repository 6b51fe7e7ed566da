/** The status that a node in many groups reports to its guardian. */
import pino from 'pino';
import { it } from 'vitest';
import { agentSettings } from '../../src/config/settings.js';
import { PetrelError } from '../../src/errors.js';
import { NodeGroups } from '../../src/node/node-groups.js';
import { StatusOfGroups } from '../../src/node/status-of-groups.js';
import { systemClock } from '../../src/ports/clock.js';
import { until } from '../support/until.js';

it('distinguishes a group that it may not use from one that it is not connected to', async () => {
  const said: string[] = [];
  const status = new StatusOfGroups(systemClock, (_, text) => said.push(text));
  const groups: NodeGroups = new NodeGroups({
    clock: systemClock,
    log: pino({ level: 'silent' }),
    ineligibleReason: () => null,
    open: async ({ root }) => {
      throw new PetrelError(root === '/refused' ? 'FORBIDDEN' : 'FAILED', root);
    },
    onGone: () => status.changed(groups),
    onGroups: () => status.changed(groups),
  });
  const settings = agentSettings.parse({ zookeeper: '127.0.0.1:1', nodeId: 'a1' });
  groups.use(new Map(['/refused', '/broken'].map((root) => [root, { ...settings, root }])));
  await until(() =>
    said.includes('in 2 groups: leads 0, is a standby for 0, is not connected to 1, has no permission for 1'),
  );
  groups.stop();
  await groups.over;
  status.close();
});
