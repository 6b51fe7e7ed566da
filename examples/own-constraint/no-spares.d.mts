import type { OwnConstraint } from 'petrel/strategies';

declare const noSpares: OwnConstraint;
export default noSpares;
