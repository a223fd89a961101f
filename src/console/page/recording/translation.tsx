import { useEffect, useState } from "preact/hooks";
import type { RecordingDetail, TranslatedSegment } from "../../contract/index.ts";
import { clock } from "../format.ts";
import { Button, Problem } from "../parts/index.ts";
import { call } from "../server.ts";
import { strings } from "../strings.ts";
import { useAttempt } from "../use-data.ts";
import type { Playback } from "./player/playback.ts";
import { SpeakerName, speakerColour } from "./speakers.tsx";

const texts = strings.translation;

interface TranslationProps {
  readonly recording: RecordingDetail;
  readonly playback: Playback;
}

/** Shows the translation of a recording, page by page. A click on a time plays from there. */
export function Translation({ recording, playback }: TranslationProps) {
  const { id } = recording;
  const [segments, setSegments] = useState<readonly TranslatedSegment[]>([]);
  const [next, setNext] = useState<number | null>(0);
  const { problem, isRunning, attempt } = useAttempt();
  const load = (after: number) =>
    void attempt(async () => {
      const page = await call("translation", { id, query: { after } });
      setSegments((before) => [...before.filter(({ index }) => index < after), ...page.segments]);
      setNext(page.next_after);
    });
  // A correction of the speakers changes who says what, and the translation is made again with the transcript.
  useEffect(() => load(0), [id, recording.updated_at]);
  return (
    <div class="transcript-column">
      <div class="transcript">
        <Problem problem={problem} retry={() => load(next ?? 0)} />
        {segments.length === 0 && next === null && <p class="empty">{texts.none}</p>}
        <ol class="translation" aria-label={texts.list}>
          {segments.map((segment, position) => (
            <TranslatedRow
              key={segment.index}
              {...{ recording, segment, playback }}
              beginsTurn={segments[position - 1]?.speaker !== segment.speaker}
            />
          ))}
        </ol>
        {next !== null && next > 0 && <Button text={strings.more} disabled={isRunning} onClick={() => load(next)} />}
      </div>
    </div>
  );
}

interface RowProps extends TranslationProps {
  readonly segment: TranslatedSegment;
  /** Whether the segment is the first of its speaker's turn. */
  readonly beginsTurn: boolean;
}

function TranslatedRow({ recording, segment, playback, beginsTurn }: RowProps) {
  const speaker = recording.speakers[segment.speaker];
  const start = clock(segment.start);
  return (
    <li class="segment" style={speakerColour(segment.speaker)}>
      {beginsTurn && speaker !== undefined && (
        <p class="speaker-line">
          <SpeakerName speaker={speaker} index={segment.speaker} />
        </p>
      )}
      <div class="margin">
        <button
          type="button"
          class="at"
          aria-label={strings.player.from(start)}
          onClick={() => playback.play(segment.start)}
        >
          {start}
        </button>
      </div>
      <p class="transcribed" lang="en">
        {segment.text}
      </p>
    </li>
  );
}
