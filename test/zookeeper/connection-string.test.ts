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
    ['', 'it is empty'],
    ['  ', 'it is empty'],
    ['/chroot', 'the server is empty'],
    ['zk1,,zk3', 'server 2 of 3 is empty (a comma too many?)'],
    ['zk1:2181,', 'server 2 of 2 is empty'],
    [':2181', 'the server has no host'],
    ['zk1:', 'the server has the port "", not one of 1 to 65535'],
    ['zk1:0', 'has the port "0"'],
    ['zk1,zk2:65536', 'server 2 of 2 has the port "65536"'],
    ['zk1:21 81', 'has the port "21 81"'],
    ['zk1:2181x', 'has the port "2181x"'],
    ['zk1:-1', 'has the port "-1"'],
    ['zk1 zk2', 'has a space in it; servers are separated by commas'],
    ['zk1:2181 zk2:2181', 'has a space in it; servers are separated by commas'],
    ['zk1;zk2', '("zk1;zk2") is no host name'],
    ['10.0.0.256', 'is no IPv4 address'],
    ['::1:2181', 'needs brackets if it is IPv6, as in "[::1]:2181"'],
    ['[zk1]:2181', 'has "zk1" in brackets, which is no IPv6 address'],
    ['[::1]2181', 'has "2181" after the bracket'],
    ['[::1:2181', 'has a stray bracket'],
    ['zk://zk1:2181', 'it has a scheme'],
    ['zk1:2181/a,zk2:2181/b', 'the chroot comes once, after the last server'],
    ['zk1/a/', 'has an empty name in it'],
    ['zk1//a', 'has an empty name in it'],
    ['zk1/a/../b', 'has ".." in it'],
    ['zk1/./b', 'has "." in it'],
    ['zk1/a b', 'has a space, a character that cannot be seen, or one that ZooKeeper does not take'],
  ])('%j is refused: %s', (text, problem) => {
    const parse = () => parseConnectionString(text);
    expect(parse).toThrow(PetrelError);
    expect(parse).toThrow(problem);
    expect(parse).toThrow('Right would be');
  });
});
