import { type Direction, directionOfLanguage } from "../direction.ts";
import { clockTime, documentDetails, documentTitle, type ExportHead, speakerName } from "../document.ts";
import type { Turn } from "../turns.ts";
import { type BlockStyle, type Pages, textWidth } from "./pages.ts";
import { type Line, layOut, type Paragraph, type Span } from "./paragraph.ts";
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

/** Steps of the outline, in minutes. The smallest step that gives at most `maxOutlineEntries` entries is used. */
const outlineMinutes = [1, 2, 5, 10, 15, 20, 30, 60];
const maxOutlineEntries = 60;

/** Lays out a transcript on pages: title, details, then each turn under its speaker and time. */
export class TranscriptPages {
  readonly outline: OutlineEntry[] = [];
  readonly #head: ExportHead;
  readonly #pages: Pages;
  readonly #structure: Structure;
  readonly #shaper: Shaper;
  /** Direction of the elements around the text: the headings of a Hebrew transcript are on the right. */
  readonly #direction: Direction;
  readonly #outlineStep: number;
  #section: StructureElement | undefined;
  #nextEntryAt = 0;

  constructor(head: ExportHead, pages: Pages, structure: Structure, shaper: Shaper) {
    this.#head = head;
    this.#pages = pages;
    this.#structure = structure;
    this.#shaper = shaper;
    this.#direction = directionOfLanguage(head.language);
    const minutes = outlineMinutes.find((step) => head.durationSeconds / 60 / step <= maxOutlineEntries) ?? 60;
    this.#outlineStep = minutes * 60_000;
  }

  drawHead(): void {
    const title = documentTitle(this.#head);
    this.outline.push({ title, ...this.#pages.place });
    const section = this.#structure.add(this.#structure.document, "Sect");
    this.#draw(this.#structure.add(section, "H1"), styles.title, [{ text: title, weight: "bold", color: ink }]);
    for (const { label, value } of documentDetails(this.#head)) {
      const spans: Span[] = [
        { text: `${label}: `, weight: "regular", color: faint },
        { text: value, weight: "regular", color: ink },
      ];
      this.#draw(this.#structure.add(section, "P", "en"), styles.detail, spans, "ltr");
    }
  }

  drawTurn(turn: Turn): void {
    const name = speakerName(this.#head, turn.speaker);
    const time = clockTime(turn.startMilliseconds);
    this.#pages.makeRoom(styles.turn);
    if (this.#section === undefined || turn.startMilliseconds >= this.#nextEntryAt) {
      this.#section = this.#structure.add(this.#structure.document, "Sect");
      this.outline.push({ title: `${time}  ${name}`, ...this.#pages.place });
      this.#nextEntryAt = (Math.floor(turn.startMilliseconds / this.#outlineStep) + 1) * this.#outlineStep;
    }
    // Digits after a Latin name would continue its left-to-right run. The right-to-left mark ends the run.
    const mark = this.#direction === "rtl" ? "\u200F" : "";
    const heading: Span[] = [
      { text: name, weight: "bold", color: speakerInk },
      { text: `${mark}   ${time}`, weight: "regular", color: faint },
    ];
    this.#draw(this.#structure.add(this.#section, "H2"), styles.turn, heading, this.#direction);
    const text: Span = { text: turn.text, weight: "regular", color: ink };
    this.#draw(this.#structure.add(this.#section, "P"), styles.text, [text]);
  }

  /** Returns the pages' content in the form of `Pages.finish`. */
  finish(): Uint8Array[][] {
    const title = this.#footerLine(documentTitle(this.#head), textWidth * 0.75);
    return this.#pages.finish(footerSize, (page, pages) => ({
      left: title,
      right: this.#footerLine(`${page + 1} / ${pages}`, textWidth * 0.2),
    }));
  }

  #draw(element: StructureElement, style: BlockStyle, spans: readonly Span[], direction?: Direction): void {
    this.#pages.draw(element, this.#layOut(spans, style.size, textWidth, direction), style);
  }

  #layOut(spans: readonly Span[], size: number, width: number, direction?: Direction): Paragraph {
    return layOut(spans, (width / size) * 1000, this.#shaper, direction);
  }

  /** Returns the text as one line; of a longer text, the first line. */
  #footerLine(text: string, width: number): Line | undefined {
    return this.#layOut([{ text, weight: "regular", color: faint }], footerSize, width).lines[0];
  }
}
