import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { RecordingDetail } from "../../contract/index.ts";
import { percent } from "../format.ts";
import { Button, Figure, Problem, recordingName } from "../parts/index.ts";
import { call, RETRY_MILLISECONDS, RequestError } from "../server.ts";
import { useViewer } from "../session.tsx";
import { strings } from "../strings.ts";
import { useCorrections } from "./editing/corrections.ts";
import { EditingBar, EditingNotices } from "./editing/editing-bar.tsx";
import { ReplaceDialog } from "./editing/replace-dialog.tsx";
import { Revisions } from "./editing/revisions.tsx";
import { Exports } from "./exports.tsx";
import { FindBar, type Match, useFind } from "./find.tsx";
import { LiveWords } from "./live-words.tsx";
import { usePlayback } from "./player/playback.ts";
import { Player } from "./player/player.tsx";
import { Processing } from "./processing.tsx";
import { Speakers } from "./speakers.tsx";
import { Transcript } from "./transcript/transcript.tsx";
import { type TranscriptActions, useTranscriptData } from "./transcript/transcript-data.ts";
import { Translation } from "./translation.tsx";
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
  const { mayChange } = useViewer();
  const data = useTranscriptData(recording.id);
  const { outline } = data;
  const corrections = useCorrections({ id: recording.id, name: recordingName(recording) }, data);
  const playback = usePlayback();
  const actions = useRef<TranscriptActions | null>(null);
  const findField = useRef<HTMLInputElement>(null);
  const [showsDoubt, setShowsDoubt] = useState(true);
  const show = useCallback(({ segment, mark }: Match) => actions.current?.show(segment, mark), []);
  const finder = useFind(recording.id, find, data.revision, show);
  const [isReplacing, setReplacing] = useState(false);
  const [wantsTranslation, setWantsTranslation] = useState(false);
  const isTranslation = wantsTranslation && recording.has_translation;
  const isLoaded = outline !== null;
  useEffect(() => {
    if (isLoaded && at !== null) playback.seek(at);
  }, [isLoaded, at, playback]);
  useKeys(playback, outline, actions, findField, corrections);
  useFreshFacts(recording, data.revision, onChange);
  const shownRevision = recording.corrected?.revision ?? 0;
  // The recording was processed again, or others have corrected it.
  useEffect(() => {
    if (isLoaded && shownRevision > data.revision) data.onStale();
  }, [isLoaded, shownRevision, data]);
  return (
    <>
      {outline === null && <Problem problem={data.problem} retry={() => data.retry()} />}
      <div class="reading">
        <Sidebar>
          <Speakers recording={recording} corrections={corrections} onChange={onChange} />
          <Processing recording={recording} onChange={onChange} />
          <Revisions recording={recording} corrections={corrections} />
          {recording.was_live && <LiveWords id={recording.id} />}
          {recording.has_translation && (
            <section>
              <h2>{strings.translation.title}</h2>
              <label class="check">
                <input
                  type="checkbox"
                  checked={isTranslation}
                  onChange={(event) => setWantsTranslation(event.currentTarget.checked)}
                />
                {strings.translation.show}
              </label>
              <p class="soft">{strings.translation.means}</p>
            </section>
          )}
          <Exports recording={recording} text={isTranslation ? "translation" : "transcript"} />
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
            <p class="soft">
              <span class="uncertain" aria-hidden="true">
                ?
              </span>{" "}
              {texts.doubtSpeaker}
            </p>
          </section>
          <Keys summary={texts.keys} list={texts.keyList} />
          {mayChange && <Keys summary={texts.editingKeys} list={texts.editingKeyList} />}
          {children}
        </Sidebar>
        {isTranslation ? (
          <Translation {...{ recording, playback }} />
        ) : (
          <div class="transcript-column">
            <div class="find-row">
              <FindBar finder={finder} field={findField} />
              {mayChange && (
                <>
                  <Button text={strings.replace.open} onClick={() => setReplacing(true)} />
                  <EditingBar corrections={corrections} onShow={(index) => actions.current?.show(index, null)} />
                </>
              )}
              <EditingNotices corrections={corrections} data={data} />
            </div>
            {isReplacing && (
              <ReplaceDialog {...{ recording, corrections }} find={finder.words} onClose={() => setReplacing(false)} />
            )}
            {outline !== null && (
              <Transcript
                {...{ recording, data, outline, corrections, playback, showsDoubt, actions }}
                found={finder.marks}
                match={finder.match}
              />
            )}
          </div>
        )}
      </div>
      {outline !== null && <Player {...{ recording, playback, outline }} onSeek={() => actions.current?.follow()} />}
    </>
  );
}

interface KeysProps {
  readonly summary: string;
  readonly list: readonly (readonly [keys: string, meaning: string])[];
}

function Keys({ summary, list }: KeysProps) {
  return (
    <details class="keyboard">
      <summary>{summary}</summary>
      <dl class="figures">
        {list.map(([keys, meaning]) => (
          <Figure key={keys} name={meaning} value={<kbd>{keys}</kbd>} />
        ))}
      </dl>
    </details>
  );
}

/** Time without a correction before the speakers' shares are loaded again. */
const FACTS_DELAY_MILLISECONDS = 300;

/** Loads the facts of the recording again after its transcript has changed. */
function useFreshFacts(
  { id, corrected }: RecordingDetail,
  revision: number,
  onChange: (recording: RecordingDetail) => void,
): void {
  const known = corrected?.revision ?? 0;
  useEffect(() => {
    if (revision <= known) return;
    const aborted = new AbortController();
    const { signal } = aborted;
    let timer: ReturnType<typeof setTimeout>;
    const loadIn = (milliseconds: number) => {
      timer = setTimeout(() => {
        call("recording", { id }, signal).then(onChange, (error: unknown) => {
          if (error instanceof RequestError && error.isTemporary) loadIn(RETRY_MILLISECONDS);
        });
      }, milliseconds);
    };
    loadIn(FACTS_DELAY_MILLISECONDS);
    return () => {
      aborted.abort();
      clearTimeout(timer);
    };
  }, [id, known, revision, onChange]);
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
