import type { LiveEvent, LiveSegment, ServerMessage } from "./messages.ts";

/**
 * The numbers of the final segments that a client has, so that after a resume it gets each of them once. Segments whose
 * speaker is not known are requested again, because the event with their speakers may be lost.
 */
export class KnownSegments {
  #next = 0;
  readonly #withoutSpeaker = new Set<number>();

  /** Number of the first segment to request after a lost connection. */
  get firstWanted(): number {
    return Math.min(this.#next, ...this.#withoutSpeaker);
  }

  /** Notes what a message says about segments. */
  note(message: ServerMessage): void {
    if (message.type === "final") this.#add(message.segment);
    if (message.type === "speakers") for (const { segment } of message.speakers) this.#withoutSpeaker.delete(segment);
  }

  /** Returns the events that a lost connection kept from the client. */
  missedIn(segments: readonly LiveSegment[]): LiveEvent[] {
    const speakers = segments.flatMap(({ number, speaker }) =>
      speaker !== null && this.#withoutSpeaker.delete(number) ? [{ segment: number, speaker }] : [],
    );
    const missed = segments.filter(({ number }) => number >= this.#next);
    for (const segment of missed) this.#add(segment);
    return [
      ...(speakers.length > 0 ? [{ type: "speakers", speakers } as const] : []),
      ...missed.map((segment) => ({ type: "final", turn: null, segment }) as const),
    ];
  }

  #add({ number, speaker }: LiveSegment): void {
    this.#next = Math.max(this.#next, number + 1);
    if (speaker === null) this.#withoutSpeaker.add(number);
  }
}
