import { clock, languageName } from "../format.ts";
import { MarkedText, Moment, OwnerName, ProgressBar, recordingName, StatusText } from "../parts/index.ts";
import { recordingAddress } from "../route.ts";
import { strings } from "../strings.ts";
import type { ShownRecording } from "./use-recordings.ts";

/**
 * Renders one recording of the list.
 * @param props.words the search words
 */
export function RecordingRow({ recording, words }: { recording: ShownRecording; words: string }) {
  const { id, account, workspace, language, duration_seconds, created_at, progress, status } = recording;
  const name = recordingName(recording);
  const marks = "name_marks" in recording ? recording.name_marks : [];
  return (
    <li>
      <div class="line">
        <a href={recordingAddress(id, null, words)} class="title">
          <bdi>
            <MarkedText text={name} marks={marks} />
          </bdi>
        </a>
        {status !== "completed" && <StatusText recording={recording} />}
        <span class="length">{duration_seconds !== null && clock(duration_seconds)}</span>
      </div>
      <p class="soft facts">
        <Moment at={created_at} />
        <OwnerName account={account} workspace={workspace} />
        {language !== null && <span>{languageName(language)}</span>}
        {recording.held && <span>{strings.recordings.held}</span>}
      </p>
      {status === "processing" && <ProgressBar label={strings.progressOf(name)} percent={progress.percent} />}
      {"hits" in recording && <Hits recording={recording} words={words} />}
    </li>
  );
}

function Hits({ recording, words }: { recording: Extract<ShownRecording, { hits: unknown }>; words: string }) {
  if (recording.hits.length === 0) return null;
  return (
    <ul class="hits">
      {recording.hits.map(({ segment, start, text, marks }) => (
        <li key={segment}>
          <a href={recordingAddress(recording.id, start, words)}>
            <span class="at">{clock(start)}</span>
            <span dir="auto" class="transcribed" lang={recording.language ?? undefined}>
              <MarkedText text={text} marks={marks} />
            </span>
          </a>
        </li>
      ))}
      {recording.has_more_hits && <li class="soft">{strings.recordings.moreHits}</li>}
    </ul>
  );
}
