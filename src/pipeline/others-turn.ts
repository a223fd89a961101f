/**
 * Yields to the event loop during long work in the server.
 * @throws the signal's reason when it is aborted
 */
export async function othersTurn(signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
}
