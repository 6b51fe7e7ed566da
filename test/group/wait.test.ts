import { describe, expect, it } from 'vitest';
import { judge } from '../../src/group/judge.js';
import { readGroup } from '../../src/group/view.js';
import { awaitSettled, awaitTerm } from '../../src/group/wait.js';
import { newGroup, transition } from '../support/group.js';

const patience = { timeoutMs: 20_000 };

describe('waiting for a term', () => {
  it('ends when it is READY, and says what it waits for meanwhile', async () => {
    await using group = await newGroup();
    await group.node('a1');
    const said: string[] = [];
    const nextLine = () => new Promise<void>((resolve) => listeners.push(resolve));
    const listeners: (() => void)[] = [];
    const onProgress = (line: string) => {
      said.push(line);
      for (const notify of listeners.splice(0)) notify();
    };
    const started = nextLine();
    const waiting = awaitTerm(group.access, 1, { ...patience, onProgress });
    await started;
    const elected = nextLine();
    await group.elect({ node: 'a1', site: 'a', term: 1, reason: 'it is the best' });
    await elected;
    const claimed = nextLine();
    await group.claim('a1', { status: 'PROGRESS', term: 1 });
    await claimed;
    const claim = await group.store.getData(group.paths.current);
    const ready = Buffer.from(claim.data.toString().replace('PROGRESS', 'READY'));
    await group.session('a1').set(group.paths.current, ready, 'any');
    expect(await waiting).toEqual({
      state: 'READY',
      term: 1,
      node: 'a1',
      reason: 'it is the best',
      record: null,
    });
    expect(said).toEqual([
      'term 0: waiting for the decision of the elector a1',
      expect.stringMatching(/^term 1: a1 is elected but has not claimed leadership yet \(\d+ s of 10 s\)$/),
      expect.stringMatching(/^term 1: a1 is taking over \(\d+ s of 60 s\)$/),
    ]);
  });

  it('is not content with a claim under an earlier term', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.elect({ node: 'a1', site: 'a', term: 2 });
    await group.claim('a1', { term: 1 });
    await expect(awaitTerm(group.access, 2, { timeoutMs: 300 })).rejects.toMatchObject({ code: 'UNDER_WAY' });
  });

  it('describes the requested slot, also one that the group has no more', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.record(transition({ slot: 1, term: 1, node: 'b1' }));
    await group.record(transition({ slot: 2, term: 1, node: 'c1' }));
    await group.elect({ node: 'b1', site: 'b', term: 2, slots: 2 });
    await group.elect({ node: 'a1', site: 'a', term: 2, reason: 'it is the best' }, 2);
    const said: string[] = [];
    const onProgress = (line: string) => void said.push(line);
    await expect(awaitTerm(group.access, 2, { slot: 2, timeoutMs: 1000, onProgress })).rejects.toMatchObject({
      code: 'UNDER_WAY',
    });
    expect(said[0]).toMatch(/^slot 2, term 2: a1 is elected/);
    await group.claim('a1', { term: 2 }, 2);
    expect(await awaitTerm(group.access, 2, { ...patience, slot: 2 })).toMatchObject({ node: 'a1' });
    expect(await awaitTerm(group.access, 1, { ...patience, slot: 2 })).toMatchObject({ node: 'c1' });
    expect(await awaitTerm(group.access, 1, patience)).toMatchObject({ node: 'b1' });
    await group.elect({ node: 'b1', site: 'b', term: 2 });
    expect(await awaitTerm(group.access, 1, { ...patience, slot: 2 })).toMatchObject({ node: 'c1' });
    await expect(awaitTerm(group.access, 1, { ...patience, slot: 3 })).rejects.toThrow(
      'slot 3 does not exist',
    );
  });

  it('describes a term that is over by its record', async () => {
    await using group = await newGroup();
    const error = {
      phase: 'takeover',
      reason: 'disk full',
      command: 'promote',
      exitCode: 3,
      signal: null,
      durationMs: 5,
      outputTail: ['no space'],
    };
    const failed = transition({ term: 2, node: 'b1', site: 'b', outcome: 'FAILED', error, readyAt: null });
    await group.record(transition({ term: 1 }));
    await group.record(failed);
    await group.record({ kind: 'change', by: 'eve', what: 'paused', reason: null, at: failed.electedAt });
    await group.elect({ node: 'a1', site: 'a', term: 4, reason: 'instead of b1' });
    expect(await awaitTerm(group.access, 1, patience)).toMatchObject({ state: 'READY', node: 'a1' });
    expect(await awaitTerm(group.access, 2, patience)).toEqual({
      state: 'FAILED',
      term: 2,
      node: 'b1',
      reason: 'takeover failed: disk full',
      record: failed,
    });
    expect(await awaitTerm(group.access, 3, patience)).toMatchObject({
      state: 'SUPERSEDED',
      reason: 'term 4 replaced it before it was READY: a1 was elected (instead of b1)',
    });
  });

  it('ends when nobody could be elected', async () => {
    await using group = await newGroup();
    await group.elect({ node: null, site: null, term: 2, reason: 'no node is eligible' });
    expect(await awaitTerm(group.access, 2, patience)).toMatchObject({
      state: 'NOBODY',
      reason: 'no node is eligible',
    });
  });

  it('says that nothing is under way, where no decision is due', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.lead('a1', 3);
    await expect(awaitTerm(group.access, 5, { timeoutMs: 300 })).rejects.toMatchObject({
      code: 'UNDER_WAY',
      reasons: [expect.stringMatching(/^term 3: no transition is under way; a1 remains elected: /)],
    });
  });

  it('ends with its time, saying what stood in the way', async () => {
    await using group = await newGroup();
    await expect(awaitTerm(group.access, 5, { timeoutMs: 300 })).rejects.toMatchObject({
      code: 'UNDER_WAY',
      message: 'term 5 has no outcome yet',
      reasons: ['the group has no elector: no agent holds a seat'],
    });
  });
});

describe('waiting for a group to settle', () => {
  it('ends at once where nothing is to be done', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.lead('a1', 7);
    expect(await awaitSettled(group.access, patience)).toMatchObject({ state: 'READY', term: 7, node: 'a1' });
  });

  it('ends when whom the group would elect leads', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.node('b1');
    await group.lead('a1', 1);
    await group.configure({ sites: { a: { priority: 0 } } });
    const looks: string[] = [];
    const waiting = awaitSettled(group.access, { ...patience, onProgress: (line) => looks.push(line) });
    await group.session('a1').delete(group.paths.current, 'any');
    await group.lead('b1', 2);
    expect(await waiting).toMatchObject({ state: 'READY', term: 2, node: 'b1' });
  });

  it('ends when nobody could lead', async () => {
    await using group = await newGroup();
    await group.node('a1', { health: { ok: false, reason: 'disk full' } });
    await group.elect({ node: null, site: null, term: 3, reason: 'no node is eligible' });
    expect(await awaitSettled(group.access, patience)).toMatchObject({ state: 'NOBODY', term: 3 });
  });

  it('does not wait for a move that the group puts off', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.node('b1');
    await group.configure({ failback: 'after:1h', sites: { b: { priority: 200 } } });
    await group.lead('a1', 1);
    expect(await awaitSettled(group.access, patience)).toMatchObject({ state: 'READY', node: 'a1' });
    expect(judge(await readGroup(group.access), Date.now())).toMatchObject({
      node: 'b1',
      reason: expect.stringContaining('only after it has been eligible for 1h'),
    });
    await group.configure({ failback: 'auto', sites: { b: { priority: 200 } } });
    await expect(awaitSettled(group.access, { timeoutMs: 300 })).rejects.toMatchObject({ code: 'UNDER_WAY' });
  });
});
