import type { Strategy } from 'petrel/strategies';

declare const taggedFirst: Strategy<{ tag: string }>;
export default taggedFirst;
