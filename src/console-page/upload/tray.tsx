import { useState } from "preact/hooks";
import { percent } from "../format.ts";
import { useOverview } from "../overview/index.ts";
import { IconButton, ProgressBar, wordsFor } from "../parts/index.ts";
import { recordingAddress } from "../route.ts";
import { strings } from "../strings.ts";
import type { Upload } from "./use-uploads.ts";

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
