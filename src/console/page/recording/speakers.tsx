import { useState } from "preact/hooks";
import type { RecordingDetail, Speaker } from "../../contract/index.ts";
import { announce } from "../announce.tsx";
import { duration, percent } from "../format.ts";
import { Button, FormDialog, Select } from "../parts/index.ts";
import { call } from "../server.ts";
import { useViewer } from "../session.tsx";
import { strings } from "../strings.ts";
import type { Corrections } from "./editing/corrections.ts";
import { SpeakerVoice } from "./speaker-voice.tsx";

const texts = strings.speakers;

interface SpeakersProps {
  readonly recording: RecordingDetail;
  readonly corrections: Corrections;
  /** Called with the recording after its speakers were renamed. */
  readonly onChange: (recording: RecordingDetail) => void;
}

/** Lists the speakers with their speaking time, and lets the user rename them for the exports of the console. */
export function Speakers({ recording, corrections, onChange }: SpeakersProps) {
  const [isRenaming, setRenaming] = useState(false);
  const [isMerging, setMerging] = useState(false);
  const { mayChange } = useViewer();
  const names = recording.speakers.flatMap(({ name }) => name ?? []);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  return (
    <section aria-labelledby="speakers">
      <div class="head">
        <h2 id="speakers" tabIndex={-1}>
          {texts.title(recording.speakers.length)}
        </h2>
        {mayChange && recording.speakers.length > 0 && (
          <Button icon="pen" text={texts.rename} onClick={() => setRenaming(true)} />
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
            <SpeakerVoice {...{ recording, speaker, onChange }} />
          </li>
        ))}
      </ul>
      {mayChange && repeated !== undefined && <p class="soft">{texts.sameName(repeated)}</p>}
      {mayChange && recording.speakers.length > 1 && <Button text={texts.merge} onClick={() => setMerging(true)} />}
      {isRenaming && <RenameDialog {...{ recording, onChange }} onClose={() => setRenaming(false)} />}
      {isMerging && <MergeDialog {...{ recording, corrections }} onClose={() => setMerging(false)} />}
    </section>
  );
}

interface DialogProps {
  readonly onClose: () => void;
}

/** Assigns all segments of a speaker to another one. */
function MergeDialog({ recording, corrections, onClose }: Omit<SpeakersProps, "onChange"> & DialogProps) {
  const { speakers } = recording;
  const [from, setFrom] = useState(speakers[1]?.number ?? 0);
  const [into, setInto] = useState(speakers[0]?.number ?? 0);
  const merge = async () => {
    if ((await corrections.make({ action: "merge_speakers", from, into })) === null) return;
    announce(texts.merged);
    onClose();
  };
  const of = speakers.map(({ number, speaker, name }) => ({
    id: String(number),
    name: name ?? texts.letter(speaker),
  }));
  return (
    <FormDialog
      title={texts.mergeTitle}
      action={texts.mergeAction}
      disabled={from === into}
      onSubmit={merge}
      onClose={onClose}
    >
      <p class="soft">{texts.mergeMeans}</p>
      <Select {...{ label: texts.mergeFrom, of, value: String(from) }} onChoose={(id) => setFrom(Number(id))} />
      <Select {...{ label: texts.mergeInto, of, value: String(into) }} onChoose={(id) => setInto(Number(id))} />
    </FormDialog>
  );
}

function RenameDialog({ recording, onChange, onClose }: Omit<SpeakersProps, "corrections"> & DialogProps) {
  const rename = async (form: FormData) => {
    // By number: the letters may have changed meanwhile, and others may have named the other speakers.
    const named = recording.speakers
      .map(({ number, name }) => [String(number), String(form.get(String(number)) ?? "").trim(), name ?? ""] as const)
      .filter(([, name, before]) => name !== before);
    onChange(await call("nameSpeakers", { id: recording.id, body: { names: Object.fromEntries(named) } }));
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
            name={String(speaker.number)}
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
