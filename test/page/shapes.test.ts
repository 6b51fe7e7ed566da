/** Checks that the page can read every response of the agent. */

import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type * as shapes from '../../packages/page/src/schemas.js';
import { statusShape } from '../../packages/page/src/schemas.js';
import type { Explanation } from '../../src/group/explain.js';
import type { Failure } from '../../src/group/failure.js';
import type { History } from '../../src/group/history.js';
import type { agentInfoSchema } from '../../src/http/agent-info.js';
import type { changeAnswerSchema } from '../../src/http/changes.js';
import type { outOfTouchSchema } from '../../src/http/event-hub.js';
import type { termSchema } from '../../src/http/reads.js';
import type { Status } from '../../src/http/status.js';
import { status } from './builders.js';

/** This type compiles only if the page can read every response that the agent may send. */
type Reads<Said extends Read, Read> = Said;
type Checked = [
  Reads<Status, shapes.Status>,
  Reads<Explanation, shapes.Explanation>,
  Reads<History, shapes.History>,
  Reads<z.infer<typeof changeAnswerSchema>, shapes.ChangeAnswer>,
  Reads<z.infer<typeof termSchema>, shapes.Term>,
  Reads<z.infer<typeof outOfTouchSchema>, z.infer<typeof shapes.outOfTouchShape>>,
  Reads<Failure, z.infer<typeof shapes.failureShape>>,
  Reads<z.infer<typeof agentInfoSchema>, shapes.AgentInfo>,
];

describe('what the page reads', () => {
  it('spells out what cannot be seen', () => {
    const picture = { ...status(), elected: { ...status().elected, reason: 'a\u202Eb\u2069' } };
    expect(statusShape.parse(picture).elected.reason).toBe('a<U+202E>b<U+2069>');
  });

  it('is all that the agent may say', () => {
    const checked: Checked['length'] = 8;
    expect(checked).toBe(8);
  });

  it('may say more than is read, and is refused where it is something else', () => {
    expect(statusShape.parse({ ...status(), more: 1 })).toEqual(status());
    expect(statusShape.safeParse({ ...status(), nodes: null }).success).toBe(false);
    expect(statusShape.safeParse('<html>').success).toBe(false);
  });
});
