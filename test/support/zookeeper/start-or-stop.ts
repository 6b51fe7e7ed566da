/** Starts `made`. If the start fails, stops it, so that nothing is left running. */
export async function startOrStop<T extends { stop(): Promise<void> }>(
  made: T,
  start: () => Promise<void>,
): Promise<T> {
  try {
    await start();
    return made;
  } catch (error) {
    await made.stop();
    throw error;
  }
}
