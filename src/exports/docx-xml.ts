import { type Direction, directionOfLanguage, directionOfText, hasRightToLeft } from "./direction.ts";
import { clockTime, type ExportHead, showsSpeakers, speakerName } from "./document.ts";
import type { Turn } from "./turns.ts";
import { xmlText } from "./xml-text.ts";

/** Colours in WordprocessingML notation. The faint colour still has a contrast of 5.7 to 1 on white. */
export const colors = { faint: "66666D", speaker: "12406E" } as const;

/**
 * Letters of left-to-right scripts and the characters between them, which form separate runs in a right-to-left
 * paragraph.
 */
const leftToRightRuns =
  /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}](?:[^\p{L}]*[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])*\p{M}*)/u;

/** A part of a paragraph with one direction. */
interface DirectedText {
  readonly text: string;
  readonly rightToLeft: boolean;
}

/** Splits a text where its direction changes, because word processors require the direction on every run. */
export function directedRuns(text: string): DirectedText[] {
  if (!hasRightToLeft(text)) return [{ text, rightToLeft: false }];
  // The odd elements are the matches of the pattern.
  return text
    .split(leftToRightRuns)
    .map((part, index) => ({ text: part, rightToLeft: index % 2 === 0 }))
    .filter((run) => run.text !== "");
}

/**
 * Returns a turn as WordprocessingML: heading and paragraph. It is built as text, because for thousands of turns the
 * library's objects take 350 MB and three times as long.
 */
export function turnXml(head: ExportHead, turn: Turn): string {
  const isNamed = showsSpeakers(head);
  const name = isNamed ? directedRuns(speakerName(head, turn.speaker)).map((run) => runXml(run)) : [];
  const time = { text: `${isNamed ? "   " : ""}${clockTime(turn.startMilliseconds)}`, rightToLeft: false };
  const heading = [
    ...name,
    runXml(time, `<w:b w:val="false"/><w:bCs w:val="false"/><w:color w:val="${colors.faint}"/>`),
  ];
  const text = directedRuns(turn.text).map((run) => runXml(run));
  return (
    paragraphXml('<w:pStyle w:val="Heading2"/>', directionOfLanguage(head.language), heading) +
    paragraphXml("", directionOfText(turn.text), text)
  );
}

function paragraphXml(style: string, direction: Direction, runs: readonly string[]): string {
  const bidirectional = direction === "rtl" ? "<w:bidi/>" : "";
  return `<w:p><w:pPr>${style}${bidirectional}</w:pPr>${runs.join("")}</w:p>`;
}

function runXml({ text, rightToLeft }: DirectedText, properties = ""): string {
  const direction = rightToLeft ? "<w:rtl/>" : "";
  return `<w:r><w:rPr>${properties}${direction}</w:rPr><w:t xml:space="preserve">${xmlText(text)}</w:t></w:r>`;
}
