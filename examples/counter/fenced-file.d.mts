export class StaleLeaderError extends Error {}

export class FencedFile {
  constructor(path: string);
  read(): Promise<unknown>;
  write(value: unknown, token: bigint): Promise<void>;
}
