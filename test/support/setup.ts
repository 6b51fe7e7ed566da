/** Runs before each test file, even though the files of a process share the modules that they load. */
import { afterAll } from 'vitest';
import { stopEveryProcess } from './agents.js';

afterAll(stopEveryProcess);
