import { useCallback } from "preact/hooks";
import type { Mark, Segment, Speaker } from "../../../console/contract.ts";
import { clock } from "../../format.ts";
import { strings } from "../../strings.ts";
import { speakerColour } from "../speaker-colour.ts";
import { SpeakerName } from "../speaker-name.tsx";
import { canHighlight, type Layer, piecesOf } from "./highlights.ts";

interface SegmentRowProps {
  readonly index: number;
  /** Of all segments. */
  readonly count: number;
  /** Null until it has come. */
  readonly segment: Segment | null;
  /** Whose turn begins here; null: it goes on. */
  readonly speaker: Speaker | null;
  /** Place of who speaks among the speakers. */
  readonly speakerIndex: number;
  readonly startSeconds: number;
  readonly language: string | null;
  /** What is marked, for browsers that need elements for it. */
  readonly marked: Readonly<Partial<Record<Layer, readonly Mark[]>>>;
  readonly onRow: (index: number, element: HTMLElement | null) => void;
}

/** One segment: when it is said, by whom where a turn begins, and what. A click on its time is heard from there. */
export function SegmentRow({ onRow, ...props }: SegmentRowProps) {
  const { index, count, segment, speaker, speakerIndex, startSeconds, language, marked } = props;
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
        <p class="who">
          <SpeakerName speaker={speaker} index={speakerIndex} />
        </p>
      )}
      <button type="button" class="at" data-play={startSeconds} aria-label={strings.player.from(clock(startSeconds))}>
        {clock(startSeconds)}
      </button>
      {segment === null ? (
        <p class="said coming" aria-hidden="true" />
      ) : (
        <p class="said" dir="auto" lang={language ?? undefined}>
          {canHighlight
            ? segment.text
            : piecesOf(segment.text, marked).map(({ from, text, layers }) => (
                <span key={from} class={layers.join(" ")}>
                  {text}
                </span>
              ))}
        </p>
      )}
    </li>
  );
}
