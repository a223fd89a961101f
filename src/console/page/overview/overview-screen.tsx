import type { OpenRecording, Overview } from "../../contract/index.ts";
import { clock, duration } from "../format.ts";
import { Ago, OwnerName, Problem, ProgressBar, StatusText, useTitle } from "../parts/index.ts";
import { addressOf, recordingAddress } from "../route.ts";
import { strings } from "../strings.ts";
import { Days } from "./days.tsx";
import { useOverview } from "./live-overview.tsx";
import { Machine } from "./machine.tsx";

const texts = strings.overview;

/** Shows the state of the server at a glance: problems, recordings in progress, speed and scarce resources. */
export function OverviewScreen() {
  const { value, isLive, problem } = useOverview();
  useTitle(texts.name);
  return (
    <div class="overview">
      <h1 class="statement">{value === null ? texts.name : statementOf(value)}</h1>
      <p class="soft" role="status">
        {value !== null && (isLive ? texts.running(value.server.version, value.server.model) : texts.disconnected)}
      </p>
      {value !== null && value.paused_webhooks > 0 && (
        <p class="problem">
          {texts.pausedWebhooks(value.paused_webhooks)}{" "}
          <a href={addressOf({ screen: "accounts" })}>{strings.accounts.name}</a>
        </p>
      )}
      {value === null && <Problem problem={problem} retry={() => location.reload()} />}
      {value !== null && (
        <div class="columns">
          <div>
            <OpenRecordings overview={value} />
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
  if (server.problem !== null) return texts.notReady(server.problem);
  if (queue.processing + queue.queued > 0) return texts.busy(queue.processing, queue.queued);
  const done = days.at(-1)?.completed_seconds ?? 0;
  return done > 0 ? texts.idleAfter(duration(done)) : texts.idle;
}

/** Shows the recordings in progress, then the queued recordings by their place. */
function OpenRecordings({ overview: { recordings, queue } }: { overview: Overview }) {
  const more = queue.processing + queue.queued - recordings.length;
  return (
    <section aria-labelledby="open-recordings">
      <div class="head">
        <h2 id="open-recordings">{texts.openTitle}</h2>
        <span class="soft">{texts.slots(queue.processing, queue.slots)}</span>
      </div>
      {recordings.length === 0 && <p class="empty">{texts.nothingOpen}</p>}
      <ol class="open-recordings">
        {recordings.map((recording) => (
          <Row key={recording.id} recording={recording} />
        ))}
      </ol>
      {more > 0 && <p class="soft">{texts.moreQueued(more)}</p>}
    </section>
  );
}

function Row({ recording }: { recording: OpenRecording }) {
  const { id, name, account, workspace, duration_seconds, created_at, progress, place, problem } = recording;
  const shownName = name ?? strings.untitled;
  return (
    <li>
      <div class="line">
        <a href={recordingAddress(id)}>
          <bdi>{shownName}</bdi>
        </a>
        <StatusText recording={recording} />
      </div>
      <div class="line soft">
        <OwnerName account={account} workspace={workspace} />
        <span>
          {duration_seconds !== null && `${clock(duration_seconds)} · `}
          <Ago at={created_at} />
        </span>
      </div>
      {problem !== null && <p class="problem">{problem}</p>}
      {place === null && <ProgressBar label={strings.progressOf(shownName)} percent={progress.percent} />}
    </li>
  );
}
