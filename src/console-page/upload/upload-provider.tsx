import { type ComponentChildren, createContext } from "preact";
import { useContext, useRef, useState } from "preact/hooks";
import type { UploadOptions } from "../../console/contract.ts";
import { percent } from "../format.ts";
import { useOverview } from "../overview/live-overview.tsx";
import { Icon, IconButton, ProgressBar, wordsFor } from "../parts/index.ts";
import { recordingAddress } from "../route.ts";
import { strings } from "../strings.ts";
import { useAnswer } from "../use-answer.ts";
import { DropZone } from "./drop-zone.tsx";
import { UploadDialog } from "./upload-dialog.tsx";
import { type Choice, type Upload, useUploads } from "./use-uploads.ts";

const choosing = createContext<(choice: Choice) => void>(() => {});

/** Lets the user upload recordings from anywhere inside it: by dropping files on the page, or with UploadButtons. */
export function UploadProvider({ children }: { children: ComponentChildren }) {
  const { uploads, send, drop } = useUploads();
  const [choice, setChoice] = useState<Choice>([]);
  return (
    <choosing.Provider value={setChoice}>
      {children}
      <DropZone onFiles={setChoice} />
      {(choice === "link" || choice.length > 0) && (
        <UploadDialog choice={choice} onSend={send} onClose={() => setChoice([])} />
      )}
      <Tray uploads={uploads} onDrop={drop} />
    </choosing.Provider>
  );
}

/** Renders the buttons to choose files and, if the server fetches links, to enter a link. */
export function UploadButtons() {
  const { value: options } = useAnswer<UploadOptions>("upload-options");
  const choose = useContext(choosing);
  const field = useRef<HTMLInputElement>(null);
  const take = (event: { currentTarget: HTMLInputElement }) => {
    choose([...(event.currentTarget.files ?? [])]);
    // Allows the user to choose the same file again.
    event.currentTarget.value = "";
  };
  return (
    <div class="buttons">
      {options?.links && (
        <button type="button" class="quiet" onClick={() => choose("link")}>
          {strings.upload.chooseLink}
        </button>
      )}
      <button type="button" class="main" onClick={() => field.current?.click()}>
        <Icon name="send" /> {strings.upload.choose}
      </button>
      <input ref={field} type="file" multiple hidden onChange={take} aria-label={strings.upload.choose} />
    </div>
  );
}

const texts = strings.upload;

/** Shows the uploads in progress and the results of finished ones. */
export function Tray({ uploads, onDrop }: { uploads: readonly Upload[]; onDrop: (number: number) => void }) {
  if (uploads.length === 0) return null;
  return (
    <section class="tray" aria-label={texts.tray}>
      <ul>
        {uploads.map((upload) => (
          <Row key={upload.number} upload={upload} onDrop={onDrop} />
        ))}
      </ul>
    </section>
  );
}

function Row({ upload, onDrop }: { upload: Upload; onDrop: (number: number) => void }) {
  const { number, name, share, recording, trouble, again, cancel } = upload;
  const isOver = recording !== null || trouble !== null;
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
        <IconButton
          icon="close"
          label={isOver ? texts.dismiss(name) : texts.cancel(name)}
          onClick={() => (isOver ? onDrop(number) : cancel())}
        />
      </div>
      {trouble !== null && <p class="trouble">{trouble}</p>}
      {again !== null && (
        <button type="button" onClick={again}>
          {strings.again}
          <span class="unseen"> {texts.toSend(name)}</span>
        </button>
      )}
      {recording !== null && <Taken recording={recording} />}
      {!isOver && (
        <>
          <ProgressBar label={texts.sending(name)} percent={Math.round(share * 100)} />
          <p class="soft">{share < 1 ? texts.sent(percent(share)) : texts.looking}</p>
        </>
      )}
    </li>
  );
}

/** Shows the live status of an uploaded recording. It has ended once it disappears from the overview. */
function Taken({ recording }: { recording: NonNullable<Upload["recording"]> }) {
  const open = useOverview().value?.recordings.find(({ id }) => id === recording.id);
  const [wasOpen, setWasOpen] = useState(false);
  if (open !== undefined && !wasOpen) setWasOpen(true);
  const isOver = open === undefined && wasOpen;
  return <p class="soft">{isOver ? texts.ended : texts.taken(wordsFor(open ?? recording))}</p>;
}
