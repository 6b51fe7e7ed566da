import { describe, expect, it } from 'vitest';
import { PetrelError } from '../../src/errors.js';
import { parseConnectionString, serverText } from '../../src/zookeeper/index.js';

describe('a connection string', () => {
  it.each([
    ['zk1', ['zk1:2181'], ''],
    ['zk1:2182', ['zk1:2182'], ''],
    ['zk1:2181,zk2:2182,10.0.0.3', ['zk1:2181', 'zk2:2182', '10.0.0.3:2181'], ''],
    [' zk1:2181 ,\tzk2:2181\n', ['zk1:2181', 'zk2:2181'], ''],
    ['[::1]:2181,[2001:db8::7]', ['[::1]:2181', '[2001:db8::7]:2181'], ''],
    ['[::1]:2181 , zk2/apps/petrel', ['[::1]:2181', 'zk2:2181'], '/apps/petrel'],
    ['zk1:2181/', ['zk1:2181'], ''],
    ['zk_1.compose-net:2181,zk_1.compose-net', ['zk_1.compose-net:2181'], ''],
  ])('%j names %j under %j', (text, servers, chroot) => {
    const parsed = parseConnectionString(text);
    expect(parsed.servers.map(serverText)).toEqual(servers);
    expect(parsed.chroot).toBe(chroot);
  });

  it.each([
    ['', 'the string is empty'],
    ['  ', 'the string is empty'],
    ['/chroot', 'the server is empty'],
    ['zk1,,zk3', 'server 2 of 3 is empty (extra comma?)'],
    ['zk1:2181,', 'server 2 of 2 is empty'],
    [':2181', 'the server has no host'],
    ['zk1:', 'the server has the port "": expected 1 to 65535'],
    ['zk1:0', 'has the port "0"'],
    ['zk1,zk2:65536', 'server 2 of 2 has the port "65536"'],
    ['zk1:21 81', 'has the port "21 81"'],
    ['zk1:2181x', 'has the port "2181x"'],
    ['zk1:-1', 'has the port "-1"'],
    ['zk1;zk2', '("zk1;zk2") is not a host name'],
    ['10.0.0.256', 'is not an IPv4 address'],
    ['::1:2181', 'write an IPv6 address in brackets, as in "[::1]:2181"'],
    ['[zk1]:2181', '"zk1" in brackets is not an IPv6 address'],
    ['[::1]2181', 'unexpected "2181" after the bracket'],
    ['[::1:2181', 'contains an unmatched bracket'],
    ['zk://zk1:2181', 'the string has a URL scheme'],
    ['zk1:2181/a,zk2:2181/b', 'write the chroot once, after the last server'],
    ['zk1/a/', 'contains an empty name'],
    ['zk1//a', 'contains an empty name'],
    ['zk1/a/../b', 'must not contain ".."'],
    ['zk1/./b', 'must not contain "."'],
    ['zk1/a b', 'contains a space or a character that ZooKeeper does not allow'],
  ])('%j is refused: %s', (text, problem) => {
    const parse = () => parseConnectionString(text);
    expect(parse).toThrow(PetrelError);
    expect(parse).toThrow(problem);
    expect(parse).toThrow('Expected the form');
  });

  it.each(['zk1 zk2', 'zk1:2181 zk2:2181'])('T8 %j is refused with the remedy', (text) => {
    expect(() => parseConnectionString(text)).toThrow('contains a space: separate servers with commas');
  });
});
