import { describe, expect, it } from 'vitest';
import { isGroup, rootsBelow } from '../../src/model/paths.js';

const group = ['clock', 'config', 'election', 'history', 'leader', 'nodes', 'scores', 'circuit-breaker'];

describe('the groups below a path', () => {
  it('are its children, in order', () => {
    expect(rootsBelow('/services', ['web', 'config', 'db'])).toEqual([
      '/services/config',
      '/services/db',
      '/services/web',
    ]);
  });

  it('are not what a group has of its own, where the path is a group itself, and all others still', () => {
    expect(isGroup(group)).toBe(true);
    expect(rootsBelow('/cluster', group)).toEqual([]);
    expect(rootsBelow('/services', ['web', ...group, 'db'])).toEqual(['/services/db', '/services/web']);
  });
});
