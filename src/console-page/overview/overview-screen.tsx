import type { OpenRecording, Overview } from "../../console/contract.ts";
import { clock, duration } from "../format.ts";
import { Ago, OwnerName, RecordingProgress, StatusWord, Told, useTitle } from "../parts/index.ts";
import { recordingAddress } from "../route.ts";
import { strings } from "../strings.ts";
import { Days } from "./days.tsx";
import { useOverview } from "./live-overview.tsx";
import { Machine } from "./machine.tsx";

const texts = strings.overview;

/** Shows the state of the server at a glance: problems, recordings in progress, speed and scarce resources. */
export function OverviewScreen() {
  const { value, isLive, trouble } = useOverview();
  useTitle(texts.name);
  return (
    <div class="overview">
      <h1 class="statement">{value === null ? texts.name : statementOf(value)}</h1>
      <p class="soft" role="status">
        {value !== null && (isLive ? texts.running(value.server.version, value.server.model) : texts.lost)}
      </p>
      {value === null && <Told trouble={trouble} again={() => location.reload()} />}
      {value !== null && (
        <div class="columns">
          <div>
            <InHand overview={value} />
            <Days days={value.days} />
          </div>
          <Machine overview={value} />
        </div>
      )}
    </div>
  );
}

/** Returns the state of the server in one sentence. */
function statementOf({ server, queue, days }: Overview): string {
  if (server.trouble !== null) return texts.notReady(server.trouble);
  if (queue.processing + queue.queued > 0) return texts.atWork(queue.processing, queue.queued);
  const done = days.at(-1)?.completed_seconds ?? 0;
  return done > 0 ? texts.idleAfter(duration(done)) : texts.idle;
}

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
