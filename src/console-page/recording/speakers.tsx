import { useState } from "preact/hooks";
import type { RecordingDetail, Rename, Speaker } from "../../console/contract.ts";
import { announce } from "../announce.tsx";
import { duration, percent } from "../format.ts";
import { Actions, Dialog, Icon, Told } from "../parts/index.ts";
import { ask, troubleOf } from "../server.ts";
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
  const [trouble, setTrouble] = useState<string | null>(null);
  const rename = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const named = recording.speakers.map(({ speaker }) => [speaker, String(form.get(speaker) ?? "").trim()] as const);
    const body: Rename = { names: Object.fromEntries(named) };
    try {
      onChange(await ask<RecordingDetail>(`recordings/${recording.id}/speakers`, { method: "PUT", body }));
      announce(texts.renamed);
      onClose();
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };
  return (
    <Dialog title={texts.renameTitle} onClose={onClose}>
      <form onSubmit={(event) => void rename(event)}>
        <p class="soft">{texts.renameMeans}</p>
        <Told trouble={trouble} />
        {recording.speakers.map((speaker, index) => (
          <SpeakerField key={speaker.speaker} speaker={speaker} index={index} />
        ))}
        <Actions onCancel={onClose}>
          <button type="submit" class="main">
            {strings.save}
          </button>
        </Actions>
      </form>
    </Dialog>
  );
}

function SpeakerField({ speaker, index }: { speaker: Speaker; index: number }) {
  const plain = { ...speaker, name: null };
  return (
    <label>
      <SpeakerName speaker={plain} index={index} />
      <input
        name={speaker.speaker}
        defaultValue={speaker.name ?? ""}
        placeholder={nameOf(plain)}
        maxLength={100}
        autocomplete="off"
        dir="auto"
      />
    </label>
  );
}

/** Returns the name of a speaker: the given name, or `Speaker A`. */
export function nameOf({ name, speaker }: Speaker): string {
  return name ?? strings.speakers.letter(speaker);
}

/** Renders a speaker's name in their colour. */
export function SpeakerName({ speaker, index }: { speaker: Speaker; index: number }) {
  return (
    <bdi class="speaker" style={speakerColour(index)}>
      {nameOf(speaker)}
    </bdi>
  );
}

/** Number of speaker colours in the style sheet; further speakers reuse them from the first. */
export const speakerColours = 8;

/**
 * Returns the style that draws an element and its content in a speaker's colour.
 * @param index index of the speaker
 */
export function speakerColour(index: number): Readonly<Record<"--speaker", string>> {
  return { "--speaker": `var(--speaker-${index % speakerColours})` };
}
