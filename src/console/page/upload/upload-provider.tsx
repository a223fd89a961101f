import { type ComponentChildren, createContext } from "preact";
import { useContext, useRef, useState } from "preact/hooks";
import type { RecordingDetail } from "../../contract/index.ts";
import { percent } from "../format.ts";
import { useOverview } from "../overview/live-overview.tsx";
import { Button, IconButton, ProgressBar, statusText } from "../parts/index.ts";
import { recordingAddress } from "../route.ts";
import { useViewer } from "../session.tsx";
import { strings } from "../strings.ts";
import { useData, usePolling } from "../use-data.ts";
import { DropZone } from "./drop-zone.tsx";
import { UploadDialog } from "./upload-dialog.tsx";
import { type Choice, type Upload, useUploads } from "./use-uploads.ts";

const texts = strings.upload;

const ChoiceContext = createContext<(choice: Choice) => void>(() => {});

/** Lets the user upload recordings from anywhere inside it: by dropping files on the page, or with UploadButtons. */
export function UploadProvider({ children }: { children: ComponentChildren }) {
  const { uploads, send } = useUploads();
  const [choice, setChoice] = useState<Choice>([]);
  const { mayChange } = useViewer();
  return (
    <ChoiceContext.Provider value={setChoice}>
      {children}
      {mayChange && <DropZone onFiles={setChoice} />}
      {(choice === "link" || choice.length > 0) && (
        <UploadDialog choice={choice} onSend={send} onClose={() => setChoice([])} />
      )}
      <Tray uploads={uploads} />
    </ChoiceContext.Provider>
  );
}

/** Renders the buttons to choose files and, if the server fetches links, to enter a link. */
export function UploadButtons() {
  const { value: options } = useData("uploadOptions", {});
  const choose = useContext(ChoiceContext);
  const field = useRef<HTMLInputElement>(null);
  const take = (event: { currentTarget: HTMLInputElement }) => {
    choose([...(event.currentTarget.files ?? [])]);
    // Allows the user to choose the same file again.
    event.currentTarget.value = "";
  };
  return (
    <div class="buttons">
      {options?.links && <Button text={texts.chooseLink} onClick={() => choose("link")} />}
      <Button look="main" icon="send" text={texts.choose} onClick={() => field.current?.click()} />
      <input ref={field} type="file" multiple hidden onChange={take} aria-label={texts.choose} />
    </div>
  );
}

/** Shows the uploads in progress and the results of finished ones. */
function Tray({ uploads }: { uploads: readonly Upload[] }) {
  if (uploads.length === 0) return null;
  return (
    <section class="tray" aria-label={texts.tray}>
      <ul>
        {uploads.map((upload) => (
          <Row key={upload.number} upload={upload} />
        ))}
      </ul>
    </section>
  );
}

function Row({ upload: { name, share, recording, problem, retry, remove } }: { upload: Upload }) {
  const isFinished = recording !== null || problem !== null;
  return (
    <li>
      <div class="line">
        {recording === null ? (
          <bdi>{name}</bdi>
        ) : (
          <a href={recordingAddress(recording.id)}>
            <bdi>{name}</bdi>
          </a>
        )}
        <IconButton icon="close" label={isFinished ? texts.dismiss(name) : texts.cancel(name)} onClick={remove} />
      </div>
      {problem !== null && <p class="problem">{problem}</p>}
      {retry !== null && <Button look={null} text={strings.retry} of={texts.retryOf(name)} onClick={retry} />}
      {recording !== null && <UploadedStatus recording={recording} />}
      {!isFinished && (
        <>
          <ProgressBar label={texts.sending(name)} percent={Math.round(share * 100)} />
          <p class="soft">{share < 1 ? texts.sent(percent(share)) : texts.checking}</p>
        </>
      )}
    </li>
  );
}

function UploadedStatus({ recording }: { recording: RecordingDetail }) {
  return useViewer().isOperator ? <LiveStatus recording={recording} /> : <PolledStatus recording={recording} />;
}

/** Shows the status of an uploaded recording to a person who has no live overview. */
function PolledStatus({ recording }: { recording: RecordingDetail }) {
  const { value, retry } = useData("recording", { id: recording.id });
  const shown = value ?? recording;
  const isFinished = shown.status === "completed" || shown.status === "failed";
  usePolling(!isFinished, retry);
  return <p class="soft">{isFinished ? texts.finished : texts.created(statusText(shown))}</p>;
}

/** Shows the live status of an uploaded recording. It has finished once it disappears from the overview. */
function LiveStatus({ recording }: { recording: RecordingDetail }) {
  const open = useOverview().value?.recordings.find(({ id }) => id === recording.id);
  const [wasOpen, setWasOpen] = useState(false);
  if (open !== undefined && !wasOpen) setWasOpen(true);
  const isFinished = open === undefined && wasOpen;
  return <p class="soft">{isFinished ? texts.finished : texts.created(statusText(open ?? recording))}</p>;
}
