/** The parts of this package that Petrel's command line loads. */
import type { LabPackage } from 'petrel/internals';
import { defineLab } from './command/command.js';
import { describedSituation } from './planning/described-situation.js';
import { plotOf } from './planning/plot.js';

const offered: LabPackage = { defineLab, describedSituation, plotOf };
export default offered;
