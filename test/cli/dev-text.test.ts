/** The commands that `petrel dev` suggests, as the group and its nodes change. */
import { describe, expect, it } from 'vitest';
import { type Tried, whatToTry } from '../../src/cli/dev-text.js';
import { claim, member } from '../core/builders.js';

const nodes = ['a1', 'a2', 'b1', 'b2'];

function shown(leader: string, gone: readonly string[] = [], more: Partial<Tried> = {}): string[] {
  const view = {
    current: claim(leader),
    members: nodes.map((node) => member(node)),
  };
  return whatToTry(view, {
    invocation: './petrel',
    options: '',
    agents: {
      nodes,
      siteOf: (node) => node.slice(0, 1),
      isRunning: (node) => !gone.includes(node),
      guardianPid: () => 4194303,
    },
    http: { urlOf: (node) => `http://127.0.0.1:8008/${node}`, tokenFile: '/tmp/token' },
    sessionTimeout: '4s',
    isAtKeyboard: true,
    ...more,
  });
}

describe('what to try', () => {
  it('fits 80 columns', () => {
    const lines = [...shown('a1'), ...shown('b1'), ...shown('a1', [], { isAtKeyboard: false })];
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it('gives three ways to kill, each with what it does, after what changes the leader', () => {
    const lines = shown('a1');
    const kills = lines.filter((line) => line.includes('kill -9'));
    expect(kills).toEqual([
      expect.stringMatching(/^ {2}kill -9 \d+ +# a1's agent, which its guardian restarts$/),
      expect.stringMatching(/^ {2}kill -9 4194303 +# or its guardian: then a1 leaves for good$/),
      expect.stringMatching(/^ {2}kill -9 4194303 \d+ +# or both: another node leads within 4s$/),
    ]);
    const at = (text: string) => lines.findIndex((line) => line.includes(text));
    expect(at('press Enter first')).toBeGreaterThan(at('switchover --yes'));
    expect(at('kill -9')).toBeGreaterThan(at('press Enter first'));
  });

  it('names no key without a keyboard', () => {
    const text = shown('a1', [], { isAtKeyboard: false }).join('\n');
    expect(text).toContain('while a1 still leads');
    expect(text).not.toContain('Enter');
  });

  it('suggests no move to the site of the leader, or to a site without nodes', () => {
    const isMove = (line: string) => line.includes(' site ');
    expect(shown('a1').filter(isMove)).toContain(
      '  ./petrel site priority a 0 --for 10m --reason "new switch"',
    );
    expect(shown('b1').filter(isMove).join()).not.toContain('site b');
    expect(shown('a1', ['b1', 'b2']).filter(isMove)).toEqual([]);
  });

  it('takes addresses from nodes that run', () => {
    const text = shown('a2', ['a1']).join('\n');
    expect(text).not.toContain('8008/a1');
    expect(text).toContain('curl -si http://127.0.0.1:8008/a2/leader    # 200 while a2 leads, else 503');
    expect(text).toContain('HTTP: a2 http://127.0.0.1:8008/a2, b1 http://127.0.0.1:8008/b1,\n      b2 http');
  });
});
