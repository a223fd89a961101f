import type { LiveMessage, LiveSegment } from "../../contract/index.ts";

/** A part of a turn that will not change, except for its speaker. */
export interface FinalPart {
  /** Number of the segment in the session. */
  readonly number: number;
  /** Seconds from the start of the session. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Label of the speaker (`S1`); null while it is not known. */
  readonly speaker: string | null;
}

/** What was said between two pauses. A change makes a new object, so that a view renders only turns that changed. */
export interface Turn {
  readonly id: string;
  /** Start of the speech in seconds; null if the server has not reported it. */
  readonly start: number | null;
  readonly parts: readonly FinalPart[];
  /** Words after the final ones, which may still change; empty for none. */
  readonly partial: string;
  /** Whether all its words are final. */
  readonly isComplete: boolean;
}

/** The words of a session. */
export interface LiveText {
  readonly turns: readonly Turn[];
  /** Names by the labels of speakers. */
  readonly names: Readonly<Record<string, string>>;
  /** Number of the next final segment. */
  readonly next: number;
  /** Language of the last turn, ISO 639; null before the first. */
  readonly language: string | null;
}

export const noText: LiveText = { turns: [], names: {}, next: 0, language: null };

/** Silence between two segments that begins a new turn, where the server does not say to which turn they belong. */
const PAUSE_SECONDS = 1.5;

/** Returns the words after a message of the server. Messages without words change nothing. */
export function withMessage(text: LiveText, message: LiveMessage): LiveText {
  switch (message.type) {
    case "session":
      return withRepeated(text, message.segments);
    case "speech_started":
      return withTurn(text, message.turn, (turn) => ({ ...turn, start: message.seconds }));
    case "partial":
      return withTurn(text, message.turn, (turn) => ({ ...turn, partial: message.text.trim() }));
    case "final":
      return withFinal(text, message.turn, message.segment);
    case "turn_completed":
      return completed({ ...text, language: message.language ?? text.language }, message.turn);
    case "turn_failed":
      return completed(text, message.turn);
    case "cleared":
      return { ...text, turns: text.turns.flatMap((turn) => (turn.isComplete ? turn : withoutPartial(turn))) };
    case "speakers":
      return withSpeakers(text, new Map(message.speakers.map(({ segment, speaker }) => [segment, speaker])));
    case "ended":
      return { ...text, turns: text.turns.flatMap(withoutPartial) };
    default:
      return text;
  }
}

/** Returns the words with a name for a speaker; an empty name removes it. */
export function withName(text: LiveText, speaker: string, name: string): LiveText {
  const { [speaker]: _, ...others } = text.names;
  return { ...text, names: name === "" ? others : { ...others, [speaker]: name } };
}

function withTurn(text: LiveText, id: string, change: (turn: Turn) => Turn): LiveText {
  // Nearly always the last one.
  const index = text.turns.findLastIndex((turn) => turn.id === id);
  const turn = text.turns[index];
  if (turn !== undefined) return { ...text, turns: text.turns.with(index, change(turn)) };
  return { ...text, turns: [...text.turns, change({ id, start: null, parts: [], partial: "", isComplete: false })] };
}

function withFinal(text: LiveText, turn: string, segment: LiveSegment): LiveText {
  const { number, start, end, text: words, speaker } = segment;
  // The page has it already.
  if (number < text.next) return text;
  const part = { number, start, end, text: words.trim(), speaker };
  const changed = withTurn(text, turn, (before) => ({ ...before, parts: [...before.parts, part], partial: "" }));
  return { ...changed, next: number + 1 };
}

/**
 * Adds the final segments that the page lacks after it has connected again. The message does not say to which turns they
 * belong: a pause begins a new one. Words that may still change come again in later messages.
 */
function withRepeated(text: LiveText, segments: readonly LiveSegment[]): LiveText {
  let next: LiveText = { ...text, turns: text.turns.flatMap(withoutPartial) };
  const last = next.turns.at(-1);
  let id = last?.id ?? "";
  let end = last?.parts.at(-1)?.end ?? -Infinity;
  for (const segment of segments) {
    if (segment.start - end > PAUSE_SECONDS) id = `from ${segment.number}`;
    next = withFinal(next, id, segment);
    end = segment.end;
  }
  return next;
}

function completed(text: LiveText, id: string): LiveText {
  const index = text.turns.findLastIndex((turn) => turn.id === id);
  const turn = text.turns[index];
  if (turn === undefined) return text;
  return { ...text, turns: text.turns.toSpliced(index, 1, ...withoutPartial(turn).map(closed)) };
}

const closed = (turn: Turn): Turn => ({ ...turn, isComplete: true });

/** Returns a turn without words that may change; nothing if no words are left. */
function withoutPartial(turn: Turn): Turn[] {
  if (turn.parts.length === 0) return [];
  return [turn.partial === "" ? turn : { ...turn, partial: "" }];
}

function withSpeakers(text: LiveText, speakers: ReadonlyMap<number, string>): LiveText {
  const turns = text.turns.map((turn) => {
    if (!turn.parts.some(({ number }) => speakers.has(number))) return turn;
    const parts = turn.parts.map((part) => ({ ...part, speaker: speakers.get(part.number) ?? part.speaker }));
    return { ...turn, parts };
  });
  return { ...text, turns };
}

/** Consecutive parts of a turn by one speaker. */
export interface Paragraph {
  readonly speaker: string | null;
  readonly start: number;
  readonly parts: readonly FinalPart[];
}

/** Groups the parts of a turn by their speakers. A part whose speaker is not known yet belongs to its neighbours. */
export function paragraphsOf(parts: readonly FinalPart[]): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  for (const part of parts) {
    const last = paragraphs.at(-1);
    const continues = last?.speaker === part.speaker || last?.speaker === null || part.speaker === null;
    if (last === undefined || !continues) {
      paragraphs.push({ speaker: part.speaker, start: part.start, parts: [part] });
    } else {
      const speaker = last.speaker ?? part.speaker;
      paragraphs[paragraphs.length - 1] = { ...last, speaker, parts: [...last.parts, part] };
    }
  }
  return paragraphs;
}

/** Scripts that are written without spaces between words. */
const spaceless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3000-\u303F\uFF00-\uFFEF]/u;

/** Returns the space between two texts that follow each other; none in scripts that are written without spaces. */
export function spaceBetween(before: string, after: string): string {
  if (before === "" || after === "") return "";
  const [last = ""] = Array.from(before).slice(-1);
  const [first = ""] = after;
  return spaceless.test(last) && spaceless.test(first) ? "" : " ";
}

/**
 * Returns the final words as plain text, one paragraph a line, with times and speakers.
 * @param nameOf returns the name of a speaker
 */
export function plainText({ turns }: LiveText, nameOf: (speaker: string) => string, timeOf: (at: number) => string) {
  const lines = turns.flatMap(({ parts }) =>
    paragraphsOf(parts).map(({ speaker, start, parts: spoken }) => {
      const words = spoken.reduce((all, { text }) => all + spaceBetween(all, text) + text, "");
      return `[${timeOf(start)}] ${speaker === null ? "" : `${nameOf(speaker)}: `}${words}`;
    }),
  );
  return lines.join("\n");
}
