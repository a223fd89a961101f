import { useState } from "preact/hooks";
import type { RecordingDetail, Rename, Speaker } from "../../console/contract.ts";
import { announce } from "../announce.tsx";
import { duration, percent } from "../format.ts";
import { FormDialog, Icon } from "../parts/index.ts";
import { requestJson } from "../server.ts";
import { strings } from "../strings.ts";

const texts = strings.speakers;

interface SpeakersProps {
  readonly recording: RecordingDetail;
  /** Called with the recording after its speakers were renamed. */
  readonly onChange: (recording: RecordingDetail) => void;
}

/** Lists the speakers with their speaking time, and lets the user rename them for the exports of the console. */
export function Speakers({ recording, onChange }: SpeakersProps) {
  const [isRenaming, setRenaming] = useState(false);
  return (
    <section aria-labelledby="speakers">
      <div class="head">
        <h2 id="speakers">{texts.title(recording.speakers.length)}</h2>
        {recording.speakers.length > 0 && (
          <button type="button" class="quiet" onClick={() => setRenaming(true)}>
            <Icon name="pen" /> {texts.rename}
          </button>
        )}
      </div>
      <ul class="speakers">
        {recording.speakers.map((speaker, index) => (
          <li key={speaker.speaker}>
            <SpeakerName speaker={speaker} index={index} />
            <span class="soft">
              {duration(speaker.seconds)} · {percent(speaker.share)}
            </span>
            <div class="track" style={speakerColour(index)} aria-hidden="true">
              <div class="filling" style={{ inlineSize: `${speaker.share * 100}%` }} />
            </div>
          </li>
        ))}
      </ul>
      {isRenaming && <RenameDialog {...{ recording, onChange }} onClose={() => setRenaming(false)} />}
    </section>
  );
}

function RenameDialog({ recording, onChange, onClose }: SpeakersProps & { readonly onClose: () => void }) {
  const rename = async (form: FormData) => {
    const named = recording.speakers.map(({ speaker }) => [speaker, String(form.get(speaker) ?? "").trim()] as const);
    const body: Rename = { names: Object.fromEntries(named) };
    onChange(await requestJson<RecordingDetail>(`recordings/${recording.id}/speakers`, { method: "PUT", body }));
    announce(texts.renamed);
    onClose();
  };
  return (
    <FormDialog title={texts.renameTitle} action={strings.save} onSubmit={rename} onClose={onClose}>
      <p class="soft">{texts.renameMeans}</p>
      {recording.speakers.map((speaker, index) => (
        <label key={speaker.speaker}>
          <SpeakerName speaker={{ ...speaker, name: null }} index={index} />
          <input
            name={speaker.speaker}
            defaultValue={speaker.name ?? ""}
            placeholder={texts.letter(speaker.speaker)}
            maxLength={100}
            autocomplete="off"
            dir="auto"
          />
        </label>
      ))}
    </FormDialog>
  );
}

/** Renders a speaker's name in their colour: the given name, or `Speaker A`. */
export function SpeakerName({ speaker: { name, speaker }, index }: { speaker: Speaker; index: number }) {
  return (
    <bdi class="speaker" style={speakerColour(index)}>
      {name ?? texts.letter(speaker)}
    </bdi>
  );
}

/** Number of speaker colours in the style sheet; further speakers reuse them from the first. */
export const SPEAKER_COLOURS = 8;

/**
 * Returns the style that draws an element and its content in a speaker's colour.
 * @param index index of the speaker
 */
export function speakerColour(index: number): Readonly<Record<"--speaker", string>> {
  return { "--speaker": `var(--speaker-${index % SPEAKER_COLOURS})` };
}
