import type { RecordingEvents } from "../../recordings/index.ts";

/**
 * Passes on the text of a recording in the order of time, while its chunks are recognized in any order. Nothing is
 * passed on for a recording with several tracks: they are transcribed one after the other.
 * @returns a function that ends this, and returns whether any text was passed on
 */
export function followText(
  events: Pick<RecordingEvents, "onTranscribed">,
  recordingId: string,
  onText: (text: string) => void,
): () => boolean {
  const early = new Map<number, string>();
  let next = 0;
  let hasText = false;
  const stop = events.onTranscribed(recordingId, ({ tracks, part, words }) => {
    if (tracks > 1 || part < next) return;
    early.set(part, words.map(({ text }) => text).join(""));
    for (let text = early.get(next); text !== undefined; text = early.get(next)) {
      early.delete(next);
      next += 1;
      const delta = hasText ? text : text.trimStart();
      if (delta === "") continue;
      hasText = true;
      onText(delta);
    }
  });
  return () => {
    stop();
    return hasText;
  };
}
