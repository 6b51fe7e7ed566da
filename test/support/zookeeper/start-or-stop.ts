/** Starts something that has been created. If that fails, stops it, so that nothing is left over. */
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
