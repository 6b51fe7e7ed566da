import { describe, expect, it } from 'vitest';
import {
  callOf,
  fieldsOf,
  firstFields,
  nodeActions,
  noFields,
  previewKey,
  previewOf,
  siteActions,
} from '../../packages/page/src/actions.js';
import type { ChangeAnswer } from '../../packages/page/src/schemas.js';
import { leader, node, site, status } from './builders.js';

const answer: ChangeAnswer = {
  what: 'site a: priority 100 → 0',
  changed: false,
  dryRun: true,
  changes: [{ key: 'sites.a.override', from: null, to: { priority: 0 } }],
  follows: { node: 'b1', changes: true, cause: 'planned', reason: 'site b has priority 50' },
  slot: 1,
  term: 2,
};

describe('a change from the page', () => {
  it('is one of the changing calls', () => {
    const fields = { ...noFields, reason: ' kernel ', by: 'eve' };
    const common = { reason: 'kernel', by: 'eve' };
    expect(callOf({ kind: 'priority', site: 'a' }, { ...fields, length: '30m' })).toEqual({
      method: 'PUT',
      path: '/sites/a/priority',
      body: { ...common, priority: 0, for: '30m' },
    });
    const post = (path: string, more = {}) => ({ method: 'POST', path, body: { ...common, ...more } });
    expect(callOf({ kind: 'pause' }, fields)).toEqual(post('/pause'));
    expect(callOf({ kind: 'switchover' }, fields)).toEqual(post('/switchover'));
    expect(callOf({ kind: 'switchover' }, { ...fields, to: 'site:b', at: '30m' })).toEqual(
      post('/switchover', { toSite: 'b', at: '30m' }),
    );
    expect(callOf({ kind: 'switchover' }, { ...fields, to: 'node:b1' })).toEqual(
      post('/switchover', { to: 'b1' }),
    );
    expect(callOf({ kind: 'reset', site: 'a' }, noFields)).toEqual({
      method: 'DELETE',
      path: '/sites/a/priority',
      body: {},
    });
    expect(callOf({ kind: 'forget-site', site: 'a' }, noFields)).toEqual({
      method: 'DELETE',
      path: '/sites/a',
      body: {},
    });
    expect(callOf({ kind: 'mark-healthy', site: 'a' }, noFields).path).toBe('/sites/a/mark-healthy');
    expect(callOf({ kind: 'drain', node: '../pause' }, noFields).path).toBe('/nodes/..%2Fpause/drain');
  });

  it('names the slot of a handover where there are several', () => {
    const [first] = status().leaders;
    const several = status({ leaders: first === undefined ? [] : [first, { ...first, slot: 2 }] });
    const switchover = { kind: 'switchover' } as const;
    expect(fieldsOf(switchover, several)).toEqual(['slot', 'to', 'at']);
    expect(fieldsOf({ kind: 'pause' }, several)).toEqual([]);
    const fields = { ...firstFields(several, { by: 'eve', reason: 'kernel' }), slot: '2' };
    expect(fields).toMatchObject({ by: 'eve', reason: 'kernel' });
    expect(callOf(switchover, { ...fields, by: '', reason: '' }).body).toEqual({ slot: 2 });
    const common = { by: 'eve', reason: 'kernel' };
    expect(callOf({ kind: 'switchover-to', node: 'b1' }, fields).body).toEqual({
      ...common,
      slot: 2,
      to: 'b1',
    });
    expect(callOf({ kind: 'drain', node: 'b1' }, fields).body).toEqual(common);
    expect(fieldsOf(switchover, status())).toEqual(['to', 'at']);
    expect(callOf(switchover, firstFields(status(), common)).body).toEqual(common);
    expect(previewOf({ ...answer, slot: 2 }, several).follows).toMatch(/^Slot 2: b1 will be elected/);
  });

  it('leaves it to the agent to say what is wrong with a number', () => {
    const call = callOf({ kind: 'priority', site: 'a' }, { ...noFields, priority: '1e3', length: '' });
    expect(call.body).toEqual({ priority: '1e3' });
  });

  it('is offered where it makes sense', () => {
    const kinds = (change: Parameters<typeof node>[1]) =>
      nodeActions(node('a1', change)).map(({ kind }) => kind);
    expect(kinds({})).toEqual(['switchover-to', 'drain']);
    expect(kinds({ state: 'READY' })).toEqual(['drain']);
    expect(kinds({ state: 'DRAINING', eligible: false })).toEqual(['undrain']);
    expect(kinds({ state: 'BACKOFF', eligible: false })).toEqual(['clear-failure', 'drain']);
  });
});

describe('the actions of a site', () => {
  const kinds = (change: Parameters<typeof site>[1], hasNodes = true) =>
    siteActions(site('a', change), hasNodes).map(({ kind }) => kind);

  it('depend on its state, and only a site without nodes can be forgotten', () => {
    const byHand = { by: 'eve', reason: 'flooded', at: '2026-01-01T00:00:00.000Z' };
    expect(kinds({})).toEqual(['priority', 'drain-site']);
    expect(kinds({ drained: byHand, failed: { byRule: false, ...byHand } })).toEqual([
      'priority',
      'mark-healthy',
      'undrain-site',
    ]);
    expect(kinds({ override: { priority: 0, until: null, by: 'eve', reason: 'x' } }, false)).toEqual([
      'priority',
      'reset',
      'drain-site',
      'forget-site',
    ]);
  });
});

describe('a preview', () => {
  it('says what is written and who would lead', () => {
    expect(previewOf(answer, status())).toEqual({
      what: 'site a: priority 100 → 0',
      idle: false,
      changes: ['sites.a.override: - → {"priority":0}'],
      follows: 'b1 will be elected: site b has priority 50',
      danger: false,
    });
  });

  it('says plainly that nobody is elected, before and after', () => {
    const follows = { node: null, changes: false, cause: 'nobody', reason: 'no node is eligible' };
    expect(previewOf({ ...answer, follows }, status({ leader: null })).follows).toBe(
      'Still no node is elected: no node is eligible',
    );
  });

  it('is a danger where somebody leads and nobody would', () => {
    const follows = { node: null, changes: true, cause: 'nobody', reason: 'no node is eligible' };
    expect(previewOf({ ...answer, follows }, status())).toMatchObject({ danger: true });
    expect(previewOf({ ...answer, follows }, status({ leader: null }))).toMatchObject({ danger: false });
  });

  it('is requested again when the group is another', () => {
    const before = previewKey(status());
    expect(previewKey(status({ asOf: '2026-01-01T00:09:00.000Z' }))).toBe(before);
    expect(previewKey(status({ leader: leader({ node: 'b1' }) }))).not.toBe(before);
    expect(
      previewKey(
        status({
          sites: [site('a', { drained: { by: 'ops', reason: 'work', at: '2026-01-01T00:00:00.000Z' } })],
        }),
      ),
    ).not.toBe(before);
  });
});
