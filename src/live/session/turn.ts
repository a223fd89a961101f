/** A turn of a session: what one client calls an item, a phrase or an utterance. Positions are samples of the session. */
export interface Turn {
  readonly id: string;
  readonly startSample: number;
  /** The end of its sound; null until it is committed. */
  endSample: number | null;
  /** Whether no further passage can belong to it. */
  isSettled: boolean;
  /** Whether its sound was dropped. */
  isDropped: boolean;
  /** Whether words of it could not be recognized. */
  hasFailed: boolean;
  /** Its final words so far. */
  text: string;
  /** Language of its words, ISO 639; null without words. */
  language: string | null;
}

/** A part of a turn with speech, which one pass can cover. A turn has several if it is long, or if the client ends turns. */
export interface Passage {
  readonly turn: Turn;
  readonly startSample: number;
  /** Null while it grows. */
  endSample: number | null;
  /** End of the last speech so far. */
  speechEndSample: number;
  /** End of its last final word. */
  finalSample: number;
}
