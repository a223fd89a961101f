import { useEffect, useState } from "preact/hooks";
import type { RecordingDetail } from "../../contract/index.ts";
import { announce } from "../announce.tsx";
import { bytes, clock, languageName } from "../format.ts";
import { useOverview } from "../overview/live-overview.tsx";
import {
  Button,
  FormDialog,
  Moment,
  OwnerName,
  Problem,
  ProgressBar,
  recordingName,
  statusText,
  useTitle,
} from "../parts/index.ts";
import { addressOf, everything, goTo } from "../route.ts";
import { request } from "../server.ts";
import { useViewer } from "../session.tsx";
import { strings } from "../strings.ts";
import { useData, usePolling } from "../use-data.ts";
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
  const { value: recording, problem, retry, set } = useData("recording", { id });
  const name = recording === null ? texts.name : recordingName(recording);
  useTitle(name);
  const overview = useOverview().value;
  const processed = recording?.processed_again ?? recording;
  const isOpen = processed?.status === "queued" || processed?.status === "processing";
  // A queued or processing recording is reloaded after every change of the overview.
  useEffect(() => {
    if (isOpen) retry();
  }, [overview, isOpen, retry]);
  const { isOperator, mayChange } = useViewer();
  usePolling(!isOperator && isOpen, retry);
  return (
    <div class="recording">
      <p class="back-link">
        <a href={addressOf({ screen: "recordings", filter: everything })}>{texts.all}</a>
      </p>
      <Problem problem={problem} retry={retry} />
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
              {mayChange && <DeleteButton id={id} name={name} />}
            </Reading>
          ) : (
            <Status recording={recording} name={name} />
          )}
        </>
      )}
    </div>
  );
}

function Facts({ recording }: { recording: RecordingDetail }) {
  const { account, workspace, language, duration_seconds, created_at, size_bytes, held } = recording;
  const { audio_track, model, models, machines, kept_until } = recording;
  const isAlone = models.every((each) => each.model === model);
  return (
    <p class="soft facts">
      {duration_seconds !== null && <span>{clock(duration_seconds)}</span>}
      {language !== null && <span>{languageName(language)}</span>}
      <Moment at={created_at} />
      <OwnerName account={account} workspace={workspace} />
      {size_bytes !== null && <span>{bytes(size_bytes)}</span>}
      {audio_track !== null && <span>{texts.audioTrack(audio_track)}</span>}
      {isAlone ? model !== null && <span>{model}</span> : <span>{texts.models(models)}</span>}
      {machines.length > 0 && <span>{texts.machines(machines)}</span>}
      {held && <span>{strings.recordings.held}</span>}
      {kept_until.audio !== null && (
        <span>
          {texts.audioUntil} <Moment at={kept_until.audio} />
        </span>
      )}
      {kept_until.recording !== null && (
        <span>
          {texts.keptUntil} <Moment at={kept_until.recording} />
        </span>
      )}
    </p>
  );
}

/** Shows the status of a recording that is not completed. */
function Status({ recording, name }: { recording: RecordingDetail; name: string }) {
  const { id, status, progress, problem, failure } = recording;
  const { mayChange } = useViewer();
  return (
    <section class="progress-panel">
      <p class="statement" role="status">
        {statusText(recording)}
      </p>
      {status === "processing" && <ProgressBar label={strings.progressOf(name)} percent={progress.percent} />}
      {problem !== null && <p class="problem">{problem}</p>}
      {status === "queued" && <p class="soft">{texts.queued}</p>}
      {failure !== null && <p class="soft">{texts.failureMeans[failure.reason]}</p>}
      {failure?.cause && (
        <p class="soft">
          {texts.cause} <code>{failure.cause}</code>
        </p>
      )}
      {status === "failed" && mayChange && <DeleteButton id={id} name={name} />}
    </section>
  );
}

/** Renders a button that deletes a recording after a confirmation. */
function DeleteButton({ id, name }: { id: string; name: string }) {
  const [isConfirming, setConfirming] = useState(false);
  const remove = async () => {
    await request("deleteRecording", { id });
    announce(strings.remove.done(name));
    goTo({ screen: "recordings", filter: everything });
  };
  return (
    <>
      <Button look="quiet bad" text={strings.remove.ask} onClick={() => setConfirming(true)} />
      {isConfirming && (
        <FormDialog
          title={strings.remove.title(name)}
          action={strings.remove.remove}
          isBad
          onSubmit={remove}
          onClose={() => setConfirming(false)}
        >
          <p>{strings.remove.means}</p>
        </FormDialog>
      )}
    </>
  );
}
