/** The option `--slot`, which selects one of a group's leaders. */
import { Option } from 'commander';
import { mostLeaders } from '../model/group-config.js';
import { wholeNumber } from './arguments.js';

export function slotOption(what: string): Option {
  return new Option('--slot <n>', what).argParser(wholeNumber(1, mostLeaders));
}
