import type { ComponentChildren } from "preact";
import { useCallback } from "preact/hooks";
import type { Mark, Outline, Segment, Speaker } from "../../../contract/index.ts";
import { clock } from "../../format.ts";
import { strings } from "../../strings.ts";
import { beginsTurn } from "../places.ts";
import { SpeakerName, speakerColour } from "../speakers.tsx";
import { canHighlight, fragmentsOf, type Layer } from "./highlights.ts";

interface SegmentRowProps {
  readonly index: number;
  /** Number of all segments. */
  readonly count: number;
  /** Null until the segment is loaded. */
  readonly segment: Segment | null;
  /** Speaker whose turn starts here; null: the turn of the previous segment continues. */
  readonly speaker: Speaker | null;
  /** Index of the speaker. */
  readonly speakerIndex: number;
  readonly startSeconds: number;
  readonly language: string | null;
  /** Marks by layer, for browsers that need elements to mark text. */
  readonly marked: Readonly<Partial<Record<Layer, readonly Mark[]>>>;
  /** Whether the row shows that the speaker is uncertain. */
  readonly isUncertain: boolean;
  /** Whether the user may correct the text, which can then have the focus. */
  readonly isEditable: boolean;
  /** The field that replaces the text while the user corrects it; null otherwise. */
  readonly editor: ComponentChildren;
  readonly onRow: (index: number, element: HTMLElement | null) => void;
}

/**
 * Renders one segment: its time, the speaker's name at the start of a turn, and its text. A click on the time plays
 * from there; a click on the text, or Enter, corrects it.
 */
export function SegmentRow({ onRow, ...props }: SegmentRowProps) {
  const { index, count, segment, speaker, speakerIndex, startSeconds, language, marked, editor } = props;
  const { isUncertain, isEditable } = props;
  const row = useCallback((element: HTMLElement | null) => onRow(index, element), [onRow, index]);
  return (
    <li
      ref={row}
      data-index={index}
      style={speakerColour(speakerIndex)}
      class="segment"
      aria-setsize={count}
      aria-posinset={index + 1}
    >
      {speaker !== null && (
        <p class="speaker-line">
          <SpeakerName speaker={speaker} index={speakerIndex} />
        </p>
      )}
      <div class="margin">
        <button type="button" class="at" data-play={startSeconds} aria-label={strings.player.from(clock(startSeconds))}>
          {clock(startSeconds)}
        </button>
        {isUncertain && (
          <span class="uncertain" role="img" aria-label={strings.editing.uncertain} title={strings.editing.uncertain}>
            ?
          </span>
        )}
      </div>
      {editor ??
        (segment === null ? (
          <p class="transcribed unloaded" aria-hidden="true" />
        ) : (
          <p
            class="transcribed"
            dir="auto"
            lang={language ?? undefined}
            tabIndex={isEditable ? 0 : undefined}
            aria-keyshortcuts={isEditable ? "Enter" : undefined}
          >
            {canHighlight
              ? segment.text
              : fragmentsOf(segment.text, marked).map(({ from, text, layers }) => (
                  <span key={from} class={layers.join(" ")}>
                    {text}
                  </span>
                ))}
          </p>
        ))}
    </li>
  );
}

/** Heights of the parts of a row with the style sheet's sizes, in pixels at the default text size. */
const LINE_HEIGHT = 29;
const ROW_GAP = 8;
const NAME_HEIGHT = 44;
/** Mean width of a full-width character, and of any other character, in pixels. */
const FULL_WIDTH = 18;
const OTHER_WIDTH = 8;

/** Languages that are written in full-width characters. */
const fullWidth = /^(zh|ja|ko|yue)\b/;

/** Estimates the height of each segment in a column of a width, from the length of its text. */
export function estimateHeights(outline: Outline, widthPixels: number, language: string | null): number[] {
  const characterWidth = fullWidth.test(language ?? "") ? FULL_WIDTH : OTHER_WIDTH;
  const inLine = Math.max(8, Math.floor(widthPixels / characterWidth));
  return outline.characters.map((characters, index) => {
    const lines = Math.max(1, Math.ceil(characters / inLine));
    return lines * LINE_HEIGHT + ROW_GAP + (beginsTurn(outline, index) ? NAME_HEIGHT : 0);
  });
}
