import type { OpenRecording, Overview } from "../../console/contract.ts";
import { clock } from "../format.ts";
import { Ago, OwnerName, RecordingProgress, StatusWord } from "../parts/index.ts";
import { recordingAddress } from "../route.ts";
import { strings } from "../strings.ts";

const texts = strings.overview;

/** Shows the recordings in progress, then the queued recordings by their place. */
export function InHand({ overview: { recordings, queue } }: { overview: Overview }) {
  const more = queue.processing + queue.queued - recordings.length;
  return (
    <section aria-labelledby="in-hand">
      <div class="head">
        <h2 id="in-hand">{texts.inHandTitle}</h2>
        <span class="soft">{texts.slots(queue.processing, queue.slots)}</span>
      </div>
      {recordings.length === 0 && <p class="empty">{texts.nothingInHand}</p>}
      <ol class="in-hand">
        {recordings.map((recording) => (
          <Row key={recording.id} recording={recording} />
        ))}
      </ol>
      {more > 0 && <p class="soft">{texts.more(more)}</p>}
    </section>
  );
}

function Row({ recording }: { recording: OpenRecording }) {
  const { id, name, account, workspace, duration_seconds, created_at, progress, place, trouble } = recording;
  return (
    <li>
      <div class="line">
        <a href={recordingAddress(id)}>
          <bdi>{name ?? strings.nameless}</bdi>
        </a>
        <StatusWord recording={recording} />
      </div>
      <div class="line soft">
        <OwnerName account={account} workspace={workspace} />
        <span>
          {duration_seconds !== null && `${clock(duration_seconds)} · `}
          <Ago at={created_at} />
        </span>
      </div>
      {trouble !== null && <p class="trouble">{trouble}</p>}
      {place === null && <RecordingProgress name={name ?? strings.nameless} progress={progress} />}
    </li>
  );
}
