/** An election algorithm that can be run. */
import type { Conditions } from './conditions.js';
import type { Expectation, Protocol } from './protocol.js';
import { type Measures, simulate } from './simulate.js';

/** An election protocol whose message type is hidden. */
export interface Algorithm {
  readonly name: string;
  readonly title: string;
  run(conditions: Conditions, seed: number): Promise<Measures>;
  expect(conditions: Conditions): readonly Expectation[];
}

export function algorithm<Message>(protocol: Protocol<Message>): Algorithm {
  const { name, title, detector, always = [] } = protocol;
  const isDetected = ({ mistakesPerS, missed }: Conditions) =>
    mistakesPerS === 0 && (missed === 0 || detector !== 'nodes');
  return {
    name,
    title,
    run: (conditions, seed) => simulate(protocol, conditions, seed),
    expect: (conditions) => [...always, ...(isDetected(conditions) ? protocol.expect(conditions) : [])],
  };
}
