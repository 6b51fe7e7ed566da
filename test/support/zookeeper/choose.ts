/** Decides which ZooKeeper the tests run against. No other module decides this. */
import { errorMessage } from '../../../src/errors.js';
import { requireDocker } from './docker.js';
import { javaIsMissing } from './java.js';

export type ZooKeeperKind = 'docker' | 'java' | 'embedded';

export interface ZooKeeperChoice {
  readonly kind: ZooKeeperKind;
  /** Name of the Docker image. Other kinds ignore it. */
  readonly image: string;
  /** The choice, and why no better kind was available, for human readers. */
  readonly description: string;
}

export const zooKeeperKinds: readonly ZooKeeperKind[] = ['docker', 'java', 'embedded'];
const defaultImage = 'zookeeper:3.9';

/**
 * Chooses the kind of ZooKeeper. `PETREL_TEST_ZOOKEEPER` names the kind for all tests. If the variable is not
 * set, `otherwise` counts. `auto` takes the first available of docker, java and embedded. Throws if the kind
 * is not available.
 */
export async function chooseZooKeeper(
  otherwise: ZooKeeperKind | 'auto',
  env: NodeJS.ProcessEnv = process.env,
): Promise<ZooKeeperChoice> {
  const wish = env.PETREL_TEST_ZOOKEEPER ?? otherwise;
  const image = env.PETREL_TEST_ZOOKEEPER_IMAGE ?? defaultImage;
  const wanted = zooKeeperKinds.filter((kind) => wish === kind || wish === 'auto');
  if (wanted.length === 0) {
    throw new Error(`PETREL_TEST_ZOOKEEPER is ${wish}; it may be auto, ${zooKeeperKinds.join(', ')}`);
  }
  const refusals: string[] = [];
  for (const kind of wanted) {
    const refusal = await whyNot(kind, image);
    if (refusal === undefined) return { kind, image, description: describe(kind, image, refusals) };
    refusals.push(`not ${kind}: ${refusal}`);
  }
  throw new Error(`PETREL_TEST_ZOOKEEPER=${wish} can't be had: ${refusals.join('; ')}`);
}

async function whyNot(kind: ZooKeeperKind, image: string): Promise<string | undefined> {
  if (kind === 'java') return javaIsMissing();
  if (kind === 'embedded') return undefined;
  return requireDocker(image).then(() => undefined, errorMessage);
}

function describe(kind: ZooKeeperKind, image: string, refusals: readonly string[]): string {
  const names = {
    docker: `docker, image ${image}`,
    java: 'java, as installed on this machine',
    embedded: "embedded, Petrel's own development server",
  };
  return [names[kind], ...refusals].join('; ');
}
