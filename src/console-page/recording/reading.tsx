import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Outline, RecordingDetail } from "../../console/contract.ts";
import { percent } from "../format.ts";
import { Figure, Figures, Told } from "../parts/index.ts";
import { strings } from "../strings.ts";
import { useAnswer } from "../use-answer.ts";
import { Exports } from "./exports.tsx";
import { FindBar, type Found, useFind } from "./find.tsx";
import { usePlayback } from "./player/playback.ts";
import { Player } from "./player/player.tsx";
import { Speakers } from "./speakers.tsx";
import { Transcript, type TranscriptActions } from "./transcript/transcript.tsx";
import { useKeys } from "./use-keys.ts";

const texts = strings.recording;

interface ReadingProps {
  readonly recording: RecordingDetail;
  /** Start position in seconds. */
  readonly at: number | null;
  readonly find: string;
  readonly onChange: (recording: RecordingDetail) => void;
  /** Content shown next to the transcript, at the end. */
  readonly children: ComponentChildren;
}

/** Shows a transcript with its speakers next to it and the player below. */
export function Reading({ recording, at, find, onChange, children }: ReadingProps) {
  const { value: outline, trouble, again } = useAnswer<Outline>(`recordings/${recording.id}/outline`);
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
      <Told trouble={trouble} again={again} />
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
          <KeyList />
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

/** Minimum width for both columns; the style sheet has the same width. */
const wide = "(width >= 56rem)";

/** Shows its content next to the transcript, or collapsed above it if the window is too narrow. */
export function Beside({ children }: { children: ComponentChildren }) {
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
    <details>
      <summary>{texts.beside}</summary>
      <aside class="beside" aria-label={texts.beside}>
        {children}
      </aside>
    </details>
  );
}

/** Lists the keyboard shortcuts of useKeys. */
export function KeyList() {
  return (
    <details class="keyboard">
      <summary>{texts.keys}</summary>
      <Figures>
        {texts.keyList.map(([keys, meaning]) => (
          <Figure key={keys} name={meaning}>
            <kbd>{keys}</kbd>
          </Figure>
        ))}
      </Figures>
    </details>
  );
}
