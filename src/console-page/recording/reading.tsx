import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Outline, RecordingDetail } from "../../console/contract.ts";
import { percent } from "../format.ts";
import { Figure, Problem } from "../parts/index.ts";
import { strings } from "../strings.ts";
import { useData } from "../use-data.ts";
import { Exports } from "./exports.tsx";
import { FindBar, type Match, useFind } from "./find.tsx";
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
  const { value: outline, problem, retry } = useData<Outline>(`recordings/${recording.id}/outline`);
  const playback = usePlayback();
  const actions = useRef<TranscriptActions | null>(null);
  const findField = useRef<HTMLInputElement>(null);
  const [showsDoubt, setShowsDoubt] = useState(true);
  const show = useCallback(({ segment, mark }: Match) => actions.current?.show(segment, mark), []);
  const finder = useFind(recording.id, find, show);
  useEffect(() => {
    if (outline !== null && at !== null) playback.seek(at);
  }, [outline, at, playback]);
  useKeys(playback, outline, actions, findField);
  return (
    <>
      <Problem problem={problem} retry={retry} />
      <div class="reading">
        <Sidebar>
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
          <details class="keyboard">
            <summary>{texts.keys}</summary>
            <dl class="figures">
              {texts.keyList.map(([keys, meaning]) => (
                <Figure key={keys} name={meaning}>
                  <kbd>{keys}</kbd>
                </Figure>
              ))}
            </dl>
          </details>
          {children}
        </Sidebar>
        <div class="transcript-column">
          <FindBar finder={finder} field={findField} />
          {outline !== null && (
            <Transcript
              {...{ recording, outline, playback, showsDoubt, actions }}
              found={finder.marks}
              match={finder.match}
            />
          )}
        </div>
      </div>
      {outline !== null && <Player {...{ recording, playback, outline }} onSeek={() => actions.current?.follow()} />}
    </>
  );
}

/** Minimum width for both columns; the style sheet has the same width. */
const WIDE = "(width >= 56rem)";

/** Shows its content next to the transcript, or collapsed above it if the window is too narrow. */
function Sidebar({ children }: { children: ComponentChildren }) {
  const [isWide, setWide] = useState(() => matchMedia(WIDE).matches);
  useEffect(() => {
    const media = matchMedia(WIDE);
    const change = () => setWide(media.matches);
    media.addEventListener("change", change);
    return () => media.removeEventListener("change", change);
  }, []);
  const content = (
    <aside class="sidebar" aria-label={texts.sidebar}>
      {children}
    </aside>
  );
  if (isWide) return content;
  return (
    <details>
      <summary>{texts.sidebar}</summary>
      {content}
    </details>
  );
}
