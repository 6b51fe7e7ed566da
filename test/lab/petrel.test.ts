/** Tests Petrel's own agents in the laboratory. */
import { expect, it } from 'vitest';
import { petrel } from '../../packages/lab/src/algorithms/petrel.js';
import { conditions } from '../../packages/lab/src/conditions.js';
import { End, type Packet } from '../../packages/lab/src/petrel/connection.js';
import { experiment, mean } from './run.js';

function frame(xid: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeInt32BE(xid, 4);
  return bytes;
}

it('packets of a connection are taken in the order in which they were sent', () => {
  const sent: Packet[] = [];
  const name = { incarnation: 0, connection: 0 };
  const from = new End(name, (packet) => sent.push(packet));
  const [a, b, c] = [frame(1), frame(2), frame(3)];
  for (const bytes of [a, b, c, null]) from.send(bytes);
  const to = new End(name, () => {});
  const taken = [2, 0, 3, 1].map((place) => sent.slice(place, place + 1).flatMap((p) => [...to.arrived(p)]));
  expect(taken).toEqual([[], [a], [], [b, c, null]]);
});

it('two runs of one seed are the same, next to each other too', async () => {
  const given = conditions({
    nodes: 6,
    scenario: 'restart',
    loss: 0.2,
    delay: { kind: 'exponential', meanMs: 10 },
  });
  const [one, two, other] = await Promise.all([
    petrel.run(given, 7),
    petrel.run(given, 7),
    petrel.run(given, 8),
  ]);
  expect(two).toEqual(one);
  expect(other).not.toEqual(one);
});

it('a leader that says that it leaves is replaced before its session would have ended', async () => {
  const detectMs = 3000;
  const timeOf = async (scenario: string) =>
    mean(await experiment('petrel', { nodes: 5, scenario, detectMs }), 'time');
  expect(await timeOf('bye')).toBeLessThan(detectMs / 2);
  expect(await timeOf('crash')).toBeGreaterThan(detectMs);
});

it('what a calm group sends does not grow with it: sessions’ pings are not counted', async () => {
  const [few, many] = await Promise.all([3, 40].map((nodes) => experiment('petrel', { nodes })));
  expect(few?.measures.upkeep?.mean).toBeGreaterThan(0);
  expect(many?.measures.upkeep).toEqual(few?.measures.upkeep);
});
