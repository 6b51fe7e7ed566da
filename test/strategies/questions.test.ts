import { describe, expect, it } from 'vitest';
import { answerTo, keyOf, Unanswered } from '../../strategies/questions.js';
import { inputOf } from './deployments.js';

function question(strategy: string, scores: Record<string, number | bigint> = {}) {
  return { strategy, options: {}, input: inputOf({ a1: { scores } }) };
}

describe('a question without an answer', () => {
  it.each([undefined, new Map()])('is thrown, and says who has not answered: %j', (answers) => {
    const asked = question('mine');
    let thrown: unknown = null;
    try {
      answerTo(asked, answers);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      name: 'Unanswered',
      message: 'strategy mine has not answered yet',
      question: asked,
    });
  });

  it('may be about a constraint', () => {
    const input = { members: [] };
    expect(new Unanswered({ constraint: 'spare', input: Object(input) }).message).toBe(
      'constraint spare has not answered yet',
    );
  });
});

describe('the key of a question', () => {
  it('is the same for equal questions', () => {
    expect(keyOf(question('mine', { load: 5n }))).toBe(keyOf(question('mine', { load: 5n })));
  });

  it.each([
    ['another strategy', question('other', { load: 5n })],
    ['another score', question('mine', { load: 6n })],
    ['the same score as a number', question('mine', { load: 5 })],
  ])('differs for %s', (_what, other) => {
    expect(keyOf(other)).not.toBe(keyOf(question('mine', { load: 5n })));
  });
});
