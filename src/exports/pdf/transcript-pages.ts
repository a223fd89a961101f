import { directionOfLanguage } from "../direction.ts";
import { clockTime, documentDetails, documentTitle, type ExportHead, showsSpeakers, speakerName } from "../document.ts";
import type { Turn } from "../turns.ts";
import { type BlockStyle, type Pages, textWidth } from "./pages.ts";
import { layOut, type Span } from "./paragraph.ts";
import type { Shaper } from "./shaper.ts";
import type { Structure, StructureElement } from "./structure.ts";

/** An entry of the outline that viewers show next to the pages. */
export interface OutlineEntry {
  readonly title: string;
  readonly page: number;
  readonly top: number;
}

const styles = {
  title: { size: 20, leading: 1.3, spaceBefore: 0, keepBelow: 0 },
  detail: { size: 9.5, leading: 1.5, spaceBefore: 2, keepBelow: 0 },
  turn: { size: 9.5, leading: 1.4, spaceBefore: 12, keepBelow: 36 },
  text: { size: 10.5, leading: 1.5, spaceBefore: 2, keepBelow: 0 },
} satisfies Record<string, BlockStyle>;
const footerSize = 8;

const ink = "0.1 0.1 0.12 rg";
const speakerInk = "0.07 0.25 0.45 rg";
// Dark enough for readers with weak eyesight: a contrast of 5.7 to 1 on white.
const faint = "0.4 0.4 0.43 rg";

/** Steps of the outline, in minutes. The first step that gives at most `MAX_OUTLINE_ENTRIES` entries is used. */
const OUTLINE_STEPS_MINUTES = [1, 2, 5, 10, 15, 20, 30, 60];
const MAX_OUTLINE_ENTRIES = 60;

/**
 * Lays out a transcript on pages: title, details, then each turn under its speaker and time.
 * @returns the outline, and the pages' content in the form of `Pages.finish`
 */
export function drawTranscript(
  head: ExportHead,
  turns: readonly Turn[],
  { pages, structure, shaper }: { pages: Pages; structure: Structure; shaper: Shaper },
): { outline: OutlineEntry[]; contents: Uint8Array[][] } {
  const title = documentTitle(head);
  const outline: OutlineEntry[] = [{ title, ...pages.place }];
  /** Direction of the elements around the text: the headings of a Hebrew transcript are on the right. */
  const direction = directionOfLanguage(head.language);
  const layOutAt = (size: number, width: number, spans: readonly Span[], paragraphDirection?: typeof direction) =>
    layOut(spans, (width / size) * 1000, shaper, paragraphDirection);
  const draw = (
    element: StructureElement,
    style: BlockStyle,
    spans: readonly Span[],
    paragraphDirection?: typeof direction,
  ) => pages.draw(element, layOutAt(style.size, textWidth, spans, paragraphDirection), style);

  let section = structure.add(structure.document, "Sect");
  draw(structure.add(section, "H1"), styles.title, [{ text: title, weight: "bold", color: ink }]);
  for (const { label, value } of documentDetails(head)) {
    const spans: Span[] = [
      { text: `${label}: `, weight: "regular", color: faint },
      { text: value, weight: "regular", color: ink },
    ];
    draw(structure.add(section, "P", "en"), styles.detail, spans, "ltr");
  }

  const minutes = OUTLINE_STEPS_MINUTES.find((step) => head.durationSeconds / 60 / step <= MAX_OUTLINE_ENTRIES) ?? 60;
  const stepMilliseconds = minutes * 60_000;
  const isNamed = showsSpeakers(head);
  // The first turn always starts a section.
  let nextEntryAt = Number.NEGATIVE_INFINITY;
  for (const turn of turns) {
    const name = isNamed ? speakerName(head, turn.speaker) : "";
    const time = clockTime(turn.startMilliseconds);
    pages.ensureSpace(styles.turn);
    if (turn.startMilliseconds >= nextEntryAt) {
      section = structure.add(structure.document, "Sect");
      outline.push({ title: isNamed ? `${time}  ${name}` : time, ...pages.place });
      nextEntryAt = (Math.floor(turn.startMilliseconds / stepMilliseconds) + 1) * stepMilliseconds;
    }
    // Digits after a Latin name would continue its left-to-right run. The right-to-left mark ends the run.
    const mark = direction === "rtl" ? "\u200F" : "";
    const heading: Span[] = isNamed
      ? [
          { text: name, weight: "bold", color: speakerInk },
          { text: `${mark}   ${time}`, weight: "regular", color: faint },
        ]
      : [{ text: time, weight: "regular", color: faint }];
    draw(structure.add(section, "H2"), styles.turn, heading, direction);
    draw(structure.add(section, "P"), styles.text, [{ text: turn.text, weight: "regular", color: ink }]);
  }

  /** Returns the text as one line; of a longer text, the first line. */
  const footerLine = (text: string, width: number) =>
    layOutAt(footerSize, width, [{ text, weight: "regular", color: faint }]).lines[0];
  const left = footerLine(title, textWidth * 0.75);
  const contents = pages.finish(footerSize, (page, count) => ({
    left,
    right: footerLine(`${page + 1} / ${count}`, textWidth * 0.2),
  }));
  return { outline, contents };
}
