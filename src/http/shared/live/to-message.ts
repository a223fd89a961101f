import type { liveMessages } from "../../../api-contract/index.ts";
import type { LiveEvent, LiveSegment } from "../../../live/index.ts";

type Words = readonly LiveSegment["words"][number][];
type ServerMessage = liveMessages.ServerMessage;

/** Returns the message of our own protocol for an event of a session. */
export function toMessage(event: LiveEvent): ServerMessage {
  switch (event.type) {
    case "speechStarted":
      return { type: "speech_started", turn: event.turn, seconds: rounded(event.seconds) };
    case "speechStopped":
      return { type: "speech_stopped", turn: event.turn, seconds: rounded(event.seconds) };
    case "committed":
      return { type: "committed", turn: event.turn, previous_turn: event.previous };
    case "cleared":
      return { type: "cleared" };
    case "partial":
      return { type: "partial", turn: event.turn, text: textOf(event.text), words: toWords(event.words) };
    case "final":
      return { type: "final", turn: event.turn, segment: toSegment(event.segment) };
    case "turnCompleted": {
      const { turn, text, seconds, language } = event;
      return { type: "turn_completed", turn, text: textOf(text), seconds: rounded(seconds), language };
    }
    case "turnFailed":
      return { type: "turn_failed", turn: event.turn };
    case "speakers":
      return { type: "speakers", speakers: [...event.speakers] };
    case "unconfirmed":
      return { type: "error", error: "unconfirmed", message: event.reason };
    case "ended":
      return { type: "ended", reason: event.reason, recording_id: event.recordingId };
  }
}

/** Returns final words in the form of our own protocol. */
export function toSegment(segment: LiveSegment): liveMessages.Segment {
  const { number, startSeconds, endSeconds, text, speaker, words } = segment;
  const times = { start: rounded(startSeconds), end: rounded(endSeconds) };
  return { number, ...times, text: textOf(text), speaker, words: toWords(words) };
}

function toWords(words: Words): liveMessages.Segment["words"] {
  return words.map(({ text, startSeconds, endSeconds, probability, isCalibrated }) => {
    const word = { text: textOf(text), start: rounded(startSeconds), end: rounded(endSeconds), probability };
    return isCalibrated === false ? { ...word, calibrated: false as const } : word;
  });
}

/** Returns a text without surrounding space and lone surrogates, which a text frame can't have. */
function textOf(text: string): string {
  return text.toWellFormed().trim();
}

/** Returns seconds with three decimals. */
function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
