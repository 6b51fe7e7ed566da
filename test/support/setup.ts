/** Runs before each test file, although the files of a process share what they load. */
import { afterAll } from 'vitest';
import { stopEveryProcess } from './agents.js';

afterAll(stopEveryProcess);
