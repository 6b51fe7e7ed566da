/** How a configured command is run and shown, and what it finds in its environment. */
import { describe, expect, it } from 'vitest';
import { argvOf, commandSchema, commandText } from '../../src/hooks/command.js';
import { hookEnvironment } from '../../src/hooks/environment.js';
import { context } from './hook-context.js';

describe('a command', () => {
  it('is run by a shell if it is a text, and directly if it is a list', () => {
    expect(argvOf('echo $HOME')).toEqual({ program: '/bin/sh', args: ['-c', 'echo $HOME'] });
    expect(argvOf(['/bin/echo', 'a', 'b'])).toEqual({ program: '/bin/echo', args: ['a', 'b'] });
  });

  it.each<[string | [string, ...string[]], string]>([
    ['echo $HOME', 'echo $HOME'],
    [['/bin/echo', 'a-b_c=%1:2,3.@+'], '/bin/echo a-b_c=%1:2,3.@+'],
    [['/bin/echo', '$HOME', 'x y', '', "it's"], `/bin/echo '$HOME' 'x y' '' 'it'\\''s'`],
    [['echo', 'a;b', 'a\nb', ';a', 'a;'], `echo 'a;b' 'a\nb' ';a' 'a;'`],
  ])('is shown as an operator would type it: %j', (command, text) => {
    expect(commandText(command)).toBe(text);
  });

  it.each<[unknown, string]>([
    ['', 'the command is empty: remove the setting instead'],
    ['  \n', 'the command is empty: remove the setting instead'],
    ['a\0b', 'a command must not contain a NUL character'],
    [['a', 'b\0'], 'a command must not contain a NUL character'],
    [[''], 'the name of the program is empty'],
    [[], 'expected a shell command, or a list of the program and its arguments'],
    [7, 'expected a shell command, or a list of the program and its arguments'],
  ])('is refused: %j', (input, message) => {
    const { error } = commandSchema.safeParse(input);
    expect(JSON.stringify(error?.issues)).toContain(message);
  });

  it.each([['x'], [['x']], [['x', '']]])('is taken: %j', (input) => {
    expect(commandSchema.safeParse(input).success).toBe(true);
  });
});

describe('the environment of a command', () => {
  it('is empty where there is nothing to say', () => {
    const environment = hookEnvironment(
      context('prepare', { previousLeader: null, previousSite: null, fencingToken: null }),
    );
    expect(environment).toMatchObject({
      PETREL_FENCING_TOKEN: '',
      PETREL_PREVIOUS_LEADER: '',
      PETREL_PREVIOUS_SITE: '',
      PETREL_NEW_LEADER: '',
      PETREL_TARGET: '',
    });
  });

  it('has no NUL characters, with which no program can be started', () => {
    expect(hookEnvironment(context('fence', { target: 'b1\0', reason: 'x' })).PETREL_TARGET).toBe('b1');
  });

  it('says who led before, and under which token the node leads', () => {
    expect(hookEnvironment(context('takeover'))).toMatchObject({
      PETREL_FENCING_TOKEN: '4294967312',
      PETREL_PREVIOUS_LEADER: 'b1',
      PETREL_PREVIOUS_SITE: 'b',
    });
  });
});
