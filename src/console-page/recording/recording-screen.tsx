import { useEffect, useState } from "preact/hooks";
import type { RecordingDetail } from "../../console/contract.ts";
import { announce } from "../announce.tsx";
import { bytes, clock, languageName } from "../format.ts";
import { useOverview } from "../overview/live-overview.tsx";
import { Confirm, Moment, OwnerName, RecordingProgress, Told, useTitle, wordsFor } from "../parts/index.ts";
import { addressOf, everything, goTo } from "../route.ts";
import { askResponse } from "../server.ts";
import { strings } from "../strings.ts";
import { useAnswer } from "../use-answer.ts";
import { Reading } from "./reading.tsx";

const texts = strings.recording;

interface RecordingScreenProps {
  readonly id: string;
  /** Start position in seconds. */
  readonly at: number | null;
  readonly find: string;
}

/** Shows one recording: its status or, once completed, its transcript and player. */
export function RecordingScreen({ id, at, find }: RecordingScreenProps) {
  const { value: recording, trouble, again, set } = useAnswer<RecordingDetail>(`recordings/${id}`);
  const name = recording?.source.name ?? recording?.source.url ?? strings.nameless;
  useTitle(recording === null ? texts.name : name);
  const overview = useOverview().value;
  const isOpen = recording?.status === "queued" || recording?.status === "processing";
  // A queued or processing recording is reloaded after every change of the overview.
  useEffect(() => {
    if (isOpen) again();
  }, [overview, isOpen, again]);
  return (
    <div class="recording">
      <p class="way-back">
        <a href={addressOf({ screen: "recordings", filter: everything })}>{texts.all}</a>
      </p>
      <Told trouble={trouble} again={again} />
      {recording !== null && (
        <>
          <header>
            <h1>
              <bdi>{name}</bdi>
            </h1>
            <Facts recording={recording} />
          </header>
          {recording.status === "completed" ? (
            <Reading recording={recording} at={at} find={find} onChange={set}>
              <Remove recording={recording} name={name} />
            </Reading>
          ) : (
            <Standing recording={recording} name={name} />
          )}
        </>
      )}
    </div>
  );
}

function Facts({ recording }: { recording: RecordingDetail }) {
  const { account, workspace, language, duration_seconds, created_at, size_bytes, model, held } = recording;
  return (
    <p class="soft facts">
      {duration_seconds !== null && <span>{clock(duration_seconds)}</span>}
      {language !== null && <span>{languageName(language)}</span>}
      <Moment at={created_at} />
      <OwnerName account={account} workspace={workspace} />
      {size_bytes !== null && <span>{bytes(size_bytes)}</span>}
      {model !== null && <span>{model}</span>}
      {held && <span>{strings.recordings.held}</span>}
    </p>
  );
}

/** Shows the status of a recording that has no transcript, or none yet. */
function Standing({ recording, name }: { recording: RecordingDetail; name: string }) {
  const { status, progress, trouble, failure } = recording;
  return (
    <section class="standing">
      <p class="statement" role="status">
        {wordsFor(recording)}
      </p>
      {status === "processing" && <RecordingProgress name={name} progress={progress} />}
      {trouble !== null && <p class="trouble">{trouble}</p>}
      {status === "queued" && <p class="soft">{texts.waits}</p>}
      {failure !== null && <p class="soft">{texts.failureMeans[failure.reason]}</p>}
      {failure?.cause && (
        <p class="soft">
          {texts.cause} <code>{failure.cause}</code>
        </p>
      )}
      {status === "failed" && <Remove recording={recording} name={name} />}
    </section>
  );
}

/**
 * Renders a button that deletes a recording after a confirmation.
 * @param props.name name of the recording
 */
export function Remove({ recording, name }: { recording: RecordingDetail; name: string }) {
  const [isAsking, setAsking] = useState(false);
  const remove = async () => {
    await askResponse(`recordings/${recording.id}`, { method: "DELETE" });
    announce(strings.remove.done(name));
    goTo({ screen: "recordings", filter: everything });
  };
  return (
    <>
      <button type="button" class="quiet bad" onClick={() => setAsking(true)}>
        {strings.remove.ask}
      </button>
      {isAsking && (
        <Confirm
          title={strings.remove.title(name)}
          means={strings.remove.means}
          action={strings.remove.remove}
          onConfirm={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
