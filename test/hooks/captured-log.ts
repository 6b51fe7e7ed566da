import pino from 'pino';

/** Returns a log, its lines (level, phase and stream if there are any, message), and their other fields. */
export function capturedLog() {
  const logged: string[] = [];
  const fields: Record<string, unknown>[] = [];
  const write = (line: string) => {
    const { level, phase, msg, stream, ...others } = JSON.parse(line);
    fields.push(others);
    logged.push([pino.levels.labels[level], phase, stream, msg].filter(Boolean).join(' '));
  };
  return { log: pino({ base: null, timestamp: false }, { write }), logged, fields };
}
