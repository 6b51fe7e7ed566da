/** Colours text on a terminal, unless NO_COLOR is set. */
import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  const coloured = stream.isTTY === true && stream.hasColors();
  return coloured ? styleText(style, text) : text;
}
