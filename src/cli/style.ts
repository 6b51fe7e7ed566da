/** Colour, where a person looks: on a terminal, and not with NO_COLOR. */
import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  const coloured = stream.isTTY === true && stream.hasColors();
  return coloured ? styleText(style, text) : text;
}
