/**
 * A textlint rule: no sentence may have more than `max` words. Line breaks, links and code inside a sentence
 * do not end it.
 */
import { SentenceSplitterSyntax, split } from 'sentence-splitter';
import { StringSource } from 'textlint-util-to-string';

export default function maxWords(context, { max = 35 } = {}) {
  const { Syntax, RuleError, report } = context;
  return {
    [Syntax.Paragraph](paragraph) {
      const source = new StringSource(paragraph, { replacer: codeAsOneWord });
      for (const { type, raw, range } of split(source.toString())) {
        const words = raw.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
        if (type !== SentenceSplitterSyntax.Sentence || words <= max) continue;
        const index = source.originalIndexFromIndex(range[0]);
        report(paragraph, new RuleError(`The sentence has ${words} words, more than ${max}.`, { index }));
      }
    },
  };
}

function codeAsOneWord({ node, maskValue }) {
  return node.type === 'Code' ? maskValue('c') : undefined;
}
