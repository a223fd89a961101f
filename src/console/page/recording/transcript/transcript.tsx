import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Mark, Outline, RecordingDetail, Segment } from "../../../contract/index.ts";
import { directionOf } from "../../format.ts";
import { Problem } from "../../parts/index.ts";
import { useViewer } from "../../session.tsx";
import { strings } from "../../strings.ts";
import type { Corrections } from "../editing/corrections.ts";
import { doubtsIn, nextDoubt, type Start } from "../editing/next-doubt.ts";
import { SegmentEditor } from "../editing/segment-editor.tsx";
import { useEditing } from "../editing/use-editing.ts";
import type { Match } from "../find.tsx";
import { beginsTurn, wordAtCharacter } from "../places.ts";
import type { Playback } from "../player/playback.ts";
import { type UsedRows, useVirtualRows } from "../rows/virtual-rows.ts";
import { characterAt, highlight, layers, partOf, rangesIn } from "./highlights.ts";
import { estimateHeights, SegmentRow } from "./segment-row.tsx";
import type { TranscriptActions, TranscriptData } from "./transcript-data.ts";
import { useFollowing, useFollowState } from "./use-following.ts";

interface TranscriptProps {
  readonly recording: RecordingDetail;
  readonly data: TranscriptData;
  readonly outline: Outline;
  readonly corrections: Corrections;
  readonly playback: Playback;
  /** Matches of the search by segment, and the current match. */
  readonly found: ReadonlyMap<number, readonly Mark[]>;
  readonly match: Match | null;
  readonly showsDoubt: boolean;
  /** Set to the actions once they are available. */
  readonly actions: RefObject<TranscriptActions | null>;
}

const marked = ["doubtful", "found", "found-now"] as const;

/** Renders the visible part of the transcript, follows the playback word by word, and lets the user correct the texts. */
export function Transcript(props: TranscriptProps) {
  const { recording, data, outline, corrections, playback, found, match, showsDoubt, actions } = props;
  const { mayChange } = useViewer();
  const following = useFollowState();
  const { follow, unfollow } = following;
  const { language } = recording;
  const estimate = useCallback(
    (width: number) => (data.outline === null ? [] : estimateHeights(data.outline, width, language)),
    [data, language],
  );
  const { list, rows, range, onRow } = useVirtualRows(estimate, unfollow);
  useEffect(
    () =>
      data.onSegments((change) => {
        if (change.kind === "reset") rows.current?.reset();
        else rows.current?.splice(change.index, change.removed, change.added);
      }),
    [data, rows],
  );
  const count = outline.characters.length;
  const last = Math.min(range.last, count - 1);
  data.load(range.first, last);
  const { playing, mark, isInView, scrollBack } = useFollowing(
    { playback, outline, segments: data, rows },
    following.current,
  );
  const play = useCallback(
    (seconds: number) => {
      follow();
      playback.play(seconds);
    },
    [follow, playback],
  );
  const { editing, edit, move, close, step, typedAhead, hint, setHint } = useEditing({
    ...{ data, rows, mayChange },
    onEdit: ({ id, selection }) => {
      unfollow();
      const segment = data.get(data.indexOf(id));
      // A user who goes on in the text hears this place next. A playback in progress is not interrupted.
      if (segment !== null && playback.audio.paused) playback.seek(startOf(segment, selection[0]));
    },
  });
  useClicks(list, data, {
    onTime: play,
    onText: (segment, character) => {
      const start = startOf(segment, character);
      if (!mayChange) return play(start);
      // The playback begins at this word, or goes on from it.
      playback.seek(start);
      edit({ id: segment.id, selection: [character, character] });
    },
  });
  // A voice can't be another speaker's if there is none.
  const isUncertain = (segment: Segment) => segment.is_speaker_uncertain && recording.speakers.length > 1;
  const goToDoubt = (direction: 1 | -1, start: Start) =>
    move("doubt", async () => {
      const place = await nextDoubt(data, recording.doubt_below, isUncertain, direction, start);
      if (place === null) setHint(strings.editing.noDoubt);
      if (place === "not loaded") setHint(strings.editing.doubtNotLoaded);
      return place === "not loaded" ? null : place;
    });

  useEffect(() => {
    actions.current = {
      show: (segment, shown) => {
        unfollow();
        rows.current?.scrollTo(segment, (row) => partOf(row, shown));
      },
      follow,
      segment: (index) => data.get(index),
    };
  }, [actions, follow, unfollow, rows, data]);

  const marksOf = (index: number): Record<(typeof marked)[number] | "playing", readonly Mark[]> => ({
    doubtful: showsDoubt ? (doubtsIn(data.get(index), recording.doubt_below) as readonly Mark[]) : [],
    found: found.get(index) ?? [],
    "found-now": match?.segment === index ? [match.mark] : [],
    playing: playing?.segment === index ? [playing.mark] : [],
  });
  useLayoutEffect(() => {
    const shown = [...(rows.current?.rows ?? [])];
    const texts = shown.map(([index, row]) => [index, row.querySelector(".transcribed")] as const);
    const current = texts.flatMap(([index, text]) => {
      // While a user types, the positions are those of the text before.
      const isCurrent = text !== null && text.textContent === data.get(index)?.text;
      return isCurrent ? [{ text, marks: marksOf(index) }] : [];
    });
    for (const layer of marked) {
      highlight(
        layer,
        current.flatMap(({ text, marks }) => rangesIn(text, marks[layer])),
      );
    }
    mark();
  });
  useEffect(
    () => () => {
      for (const layer of layers) highlight(layer, []);
    },
    [],
  );

  const shown = Array.from({ length: Math.max(0, last - range.first + 1) }, (_, offset) => range.first + offset);
  const top = rows.current?.offsetOf(range.first) ?? 0;
  return (
    <div class="transcript">
      <Problem problem={data.problem} retry={() => data.retry()} />
      {count === 0 && <p class="empty">{strings.editing.allRemoved}</p>}
      <div ref={list} class="all" dir={directionOf(language)}>
        <ol aria-label={strings.transcript} style={{ transform: `translateY(${top}px)` }}>
          {shown.map((index) => {
            const speakerIndex = outline.speaker[index] ?? 0;
            const segment = data.get(index);
            // A row stays the same when segments before it are split or joined. Recognized segments have their index as id.
            return (
              <SegmentRow
                key={segment?.id ?? (data.revision === 0 ? index : `unloaded ${index}`)}
                {...{ index, count, segment, speakerIndex, language, onRow }}
                speaker={beginsTurn(outline, index) ? (recording.speakers[speakerIndex] ?? null) : null}
                startSeconds={(outline.start_milliseconds[index] ?? 0) / 1_000}
                marked={marksOf(index)}
                isUncertain={showsDoubt && segment !== null && isUncertain(segment)}
                isEditable={mayChange}
                editor={
                  segment !== null && editing?.id === segment.id ? (
                    <SegmentEditor
                      {...{ segment, recording, corrections, playback }}
                      previous={data.get(index - 1)}
                      next={data.get(index + 1)}
                      place={editing}
                      {...{ step, typedAhead, hint }}
                      onGo={edit}
                      onMove={move}
                      isUncertain={isUncertain(segment)}
                      onDoubt={(direction, text, character) => void goToDoubt(direction, { index, text, character })}
                      onClose={close}
                    />
                  ) : null
                }
              />
            );
          })}
        </ol>
      </div>
      {!following.isFollowing && !isInView && editing === null && (
        <button
          type="button"
          class="main follow"
          onClick={() => {
            follow();
            scrollBack();
          }}
        >
          {strings.player.follow}
        </button>
      )}
    </div>
  );
}

/** Returns the time at which the word at a character begins. */
function startOf(segment: Segment, character: number): number {
  return wordAtCharacter(segment, character)?.[2] ?? segment.start;
}

interface ClickActions {
  /** A click on a segment's time. */
  readonly onTime: (seconds: number) => void;
  readonly onText: (segment: Segment, character: number) => void;
}

/** Calls an action when the user clicks a segment's text or its time, which are in rows that come and go. */
function useClicks(list: UsedRows["list"], data: TranscriptData, actions: ClickActions): void {
  const current = useRef(actions);
  current.current = actions;
  useEffect(() => {
    const click = (event: MouseEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const time = target?.closest<HTMLElement>("[data-play]")?.dataset.play;
      if (time !== undefined) return current.current.onTime(Number(time));
      const text = target?.closest<HTMLElement>("p.transcribed");
      // A user who has selected text wants to copy it.
      if (text == null || getSelection()?.isCollapsed === false) return;
      const segment = data.get(Number(text.closest<HTMLElement>("[data-index]")?.dataset.index));
      const character = characterAt(text, event.clientX, event.clientY);
      if (segment !== null && character !== null) current.current.onText(segment, character);
    };
    const element = list.current;
    element?.addEventListener("click", click);
    return () => element?.removeEventListener("click", click);
  }, [list, data]);
}
