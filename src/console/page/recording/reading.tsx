import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Outline, RecordingDetail } from "../../contract.ts";
import { percent } from "../format.ts";
import { Told } from "../parts/index.ts";
import { strings } from "../strings.ts";
import { useAnswer } from "../use-answer.ts";
import { Exports } from "./exports.tsx";
import { FindBar } from "./find-bar.tsx";
import { neighbourStart, segmentAt } from "./places.ts";
import { type Playback, usePlayback } from "./playback.ts";
import { Player } from "./player.tsx";
import { Speakers } from "./speakers.tsx";
import { Transcript, type TranscriptActions } from "./transcript.tsx";
import { type Found, useFind } from "./use-find.ts";
import { useShortcuts } from "./use-shortcuts.ts";

const texts = strings.recording;
/** Where there is room for both; the style sheet has the same width. */
const wide = "(width >= 56rem)";

interface ReadingProps {
  readonly recording: RecordingDetail;
  /** Seconds to begin at. */
  readonly at: number | null;
  readonly find: string;
  readonly onChange: (recording: RecordingDetail) => void;
  /** Shown beside the transcript, last. */
  readonly children: ComponentChildren;
}

/** A transcript to read and to hear: who speaks beside it, its sound below. */
export function Reading({ recording, at, find, onChange, children }: ReadingProps) {
  const { value: outline, refusal, again } = useAnswer<Outline>(`recordings/${recording.id}/outline`);
  const playback = usePlayback();
  const actions = useRef<TranscriptActions | null>(null);
  const findField = useRef<HTMLInputElement>(null);
  const [showsDoubt, setShowsDoubt] = useState(true);
  const show = useCallback(({ segment, mark }: Found) => actions.current?.show(segment, mark), []);
  const finder = useFind(recording.id, find, show);
  const takeActions = useCallback((taken: TranscriptActions) => {
    actions.current = taken;
  }, []);
  useEffect(() => {
    if (outline === null || at === null) return;
    playback.seek(at);
  }, [outline, at, playback]);
  useKeys(playback, outline, actions, findField);
  return (
    <>
      <Told refusal={refusal} again={again} />
      <div class="reading">
        <Beside>
          <Speakers recording={recording} onChange={onChange} />
          <Exports recording={recording} />
          <section>
            <h2>{texts.doubtTitle}</h2>
            <p class="soft">{texts.doubt(percent(recording.doubt_below))}</p>
            <label class="check">
              <input
                type="checkbox"
                checked={showsDoubt}
                onChange={(event) => setShowsDoubt(event.currentTarget.checked)}
              />
              <span class="doubtful">{texts.showDoubt}</span>
            </label>
          </section>
          <Keys />
          {children}
        </Beside>
        <div class="script">
          <FindBar finder={finder} field={findField} />
          {outline !== null && (
            <Transcript
              {...{ recording, outline, playback, showsDoubt }}
              found={finder.marks}
              place={finder.place}
              onActions={takeActions}
            />
          )}
        </div>
      </div>
      {outline !== null && (
        <Player
          {...{ playback, outline }}
          recordingId={recording.id}
          durationSeconds={recording.duration_seconds ?? 0}
          listening={recording.listening}
          onSeek={() => actions.current?.follow()}
        />
      )}
    </>
  );
}

/** Stands beside the transcript, or folded above it where the window is too narrow for both. */
function Beside({ children }: { children: ComponentChildren }) {
  const [isWide, setWide] = useState(() => matchMedia(wide).matches);
  useEffect(() => {
    const media = matchMedia(wide);
    const change = () => setWide(media.matches);
    media.addEventListener("change", change);
    return () => media.removeEventListener("change", change);
  }, []);
  if (isWide) {
    return (
      <aside class="beside" aria-label={texts.beside}>
        {children}
      </aside>
    );
  }
  return (
    <details class="above">
      <summary>{texts.beside}</summary>
      <aside class="beside" aria-label={texts.beside}>
        {children}
      </aside>
    </details>
  );
}

function useKeys(
  playback: Playback,
  outline: Outline | null,
  actions: { readonly current: TranscriptActions | null },
  findField: { readonly current: HTMLInputElement | null },
): void {
  const byWord = (step: 1 | -1) => {
    if (outline === null) return;
    const index = segmentAt(outline, playback.seconds);
    const segment = actions.current?.segment(Math.max(0, index)) ?? null;
    const start = segment === null ? null : neighbourStart(segment, playback.seconds, step);
    if (start !== null) playback.seek(start);
    else bySegment(step);
  };
  const bySegment = (step: 1 | -1) => {
    if (outline === null) return;
    const start = outline.start_milliseconds[segmentAt(outline, playback.seconds) + step];
    if (start !== undefined) playback.seek(start / 1_000);
  };
  useShortcuts({
    Space: () => playback.toggle(),
    ArrowLeft: () => playback.seek(playback.seconds - 5),
    ArrowRight: () => playback.seek(playback.seconds + 5),
    "Shift+ArrowLeft": () => byWord(-1),
    "Shift+ArrowRight": () => byWord(1),
    "Alt+ArrowUp": () => bySegment(-1),
    "Alt+ArrowDown": () => bySegment(1),
    "Shift+ArrowUp": () => playback.changeRate(1),
    "Shift+ArrowDown": () => playback.changeRate(-1),
    "Control+f": () => {
      // Typed again, it is the browser's own.
      if (document.activeElement === findField.current) return false;
      findField.current?.focus();
      findField.current?.select();
      return true;
    },
  });
}

function Keys() {
  return (
    <details class="keyboard">
      <summary>{texts.keys}</summary>
      <dl class="figures">
        {texts.keyList.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>{meaning}</dt>
            <dd>
              <kbd>{keys}</kbd>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
