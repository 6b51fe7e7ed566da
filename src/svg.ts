/** SVG as text. */

export type Attributes = Readonly<Record<string, string | number>>;

export function element(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escaped(attributeText(value))}"`,
  );
  return `<${name}${written.join('')}>${content}</${name}>`;
}

function attributeText(value: string | number): string {
  return typeof value === 'number' ? String(Math.round(value * 100) / 100) : value;
}

/** XML has no place for half a character, nor for what is none. */
export function escaped(text: string): string {
  return text
    .replaceAll(/[\p{Cs}\ufffe\uffff]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
