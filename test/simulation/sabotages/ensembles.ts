/**
 * Sabotages of what nodes do when the ensemble is restored, loses its chroot, has a quota, or requires other
 * credentials.
 */
import type { Sabotage } from './sabotage.js';

export const ensembleSabotages: readonly Sabotage[] = [
  {
    name: 'leads under a token that has gone back',
    rule: 'No node leads under a token that is not greater than all that it has seen',
    in: 'goneBack',
    find: 'token > greatest',
    replace: 'token >= 0n',
  },
  {
    name: 'a restart forgets the tokens',
    rule: 'Tokens that a node has seen are remembered by its state directory',
    in: 'TokenMemory#constructor',
    find: 'store?.earlier ?? noTokens',
    replace: 'noTokens',
  },
  {
    name: "only a node's own tokens count",
    rule: 'A node remembers the token of every claim that it sees, no matter which node owns it',
    in: 'TokenMemory#look',
    find: 'this.#tokens = withToken(this.#tokens, claim)',
    replace: '',
  },
  {
    name: 'tokens go back whatever the epoch',
    rule: 'A greater tokenEpoch lets tokens start over',
    in: 'goneBack',
    find: '(epoch !== null && epoch > tokens.epoch)',
    replace: '(epoch !== null && epoch < tokens.epoch)',
    also: [
      {
        in: 'withToken',
        find: 'return { epoch, bySlot: new Map([[slot, token]]) }',
        replace: 'return tokens',
      },
    ],
  },
  {
    name: 'a missing chroot ends the agent',
    rule: 'A chroot may vanish and return: an agent waits for it',
    in: 'Agent#restoreTree',
    find: 'if (error instanceof PetrelError) throw error;',
    replace: 'throw error;',
  },
  {
    name: 'one identity of the agents at a time',
    rule: 'ACLs name every identity of the agents, so that a password can be replaced',
    in: 'aclOf',
    find: 'entries(access.agents, permissions.all)',
    replace: 'entries(access.agents.slice(0, 1), permissions.all)',
  },
  {
    name: 'no record gives way',
    rule: 'The oldest records of the history give way when a quota refuses what the group needs',
    in: 'withRoom',
    find: `!isStoreError(error, 'QUOTA_EXCEEDED')`,
    replace: `isStoreError(error, 'QUOTA_EXCEEDED')`,
  },
  {
    name: 'no change by an operator without its record',
    rule: 'What an operator changes does not wait for its record',
    in: 'history-room.ts withRecord',
    find: `!isStoreError(error, 'QUOTA_EXCEEDED')`,
    replace: 'true',
  },
];
