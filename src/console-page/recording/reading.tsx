import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Outline, RecordingDetail } from "../../console/contract.ts";
import { percent } from "../format.ts";
import { Told } from "../parts/index.ts";
import { strings } from "../strings.ts";
import { useAnswer } from "../use-answer.ts";
import { Beside } from "./beside.tsx";
import { Exports } from "./exports.tsx";
import { FindBar } from "./find-bar.tsx";
import { KeyList } from "./key-list.tsx";
import { Player, usePlayback } from "./player/index.ts";
import { Speakers } from "./speakers.tsx";
import { Transcript, type TranscriptActions } from "./transcript/index.ts";
import { type Found, useFind } from "./use-find.ts";
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
