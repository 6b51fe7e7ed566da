/** Writes SVG as text. */

export type Attributes = Readonly<Record<string, string | number>>;

export function element(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escaped(attributeText(value))}"`,
  );
  return `<${name}${written.join('')}>${content}</${name}>`;
}

/**
 * Returns a complete SVG document with a white background. `title` describes it for readers who cannot see
 * it. Sizes are in pixels.
 */
export function picture(
  { title, width, height }: { readonly title: string; readonly width: number; readonly height: number },
  parts: readonly string[],
): string {
  const frame = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    'font-family': 'system-ui, "DejaVu Sans", sans-serif',
    'font-size': 12,
  };
  const background = element('rect', { width, height, fill: '#ffffff' });
  const content = [element('title', {}, escaped(title)), background, ...parts];
  return `${element('svg', frame, `\n${content.join('\n')}\n`)}\n`;
}

function attributeText(value: string | number): string {
  return typeof value === 'number' ? String(Math.round(value * 100) / 100) : value;
}

/** Escapes markup, and replaces lone surrogates and noncharacters, which XML does not allow. */
export function escaped(text: string): string {
  return text
    .replaceAll(/[\p{Cs}\ufffe\uffff]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
