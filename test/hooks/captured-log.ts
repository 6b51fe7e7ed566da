import pino from 'pino';

/**
 * Returns a log, and what is written to it: its lines, their texts (level, phase and stream if there are any,
 * message), and their fields without the parts of the text.
 */
export function capturedLog() {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const logged: string[] = [];
  const fields: Readonly<Record<string, unknown>>[] = [];
  const write = (text: string) => {
    const line = JSON.parse(text);
    const { level, phase, msg, stream, ...others } = line;
    lines.push(line);
    logged.push([level, phase, stream, msg].filter(Boolean).join(' '));
    fields.push(others);
  };
  const formatters = { level: (label: string) => ({ level: label }) };
  return { log: pino({ base: null, timestamp: false, formatters }, { write }), lines, logged, fields };
}
