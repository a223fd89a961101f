import type { RecordingDetail, Speaker } from "../../contract/index.ts";
import { announce } from "../announce.tsx";
import { Button, Problem } from "../parts/index.ts";
import { addressOf } from "../route.ts";
import { call } from "../server.ts";
import { useViewer } from "../session.tsx";
import { strings } from "../strings.ts";
import { useAttempt } from "../use-data.ts";

const texts = strings.voices;

interface SpeakerVoiceProps {
  readonly recording: RecordingDetail;
  readonly speaker: Speaker;
  /** Called with the recording after its speakers or voices changed. */
  readonly onChange: (recording: RecordingDetail) => void;
}

/**
 * Shows what is known about a speaker's voice, with the buttons to remember it, and to confirm or reject a proposed name.
 * Empty in accounts that do not remember voices.
 */
export function SpeakerVoice({ recording, speaker, onChange }: SpeakerVoiceProps) {
  const { problem, isRunning, attempt } = useAttempt();
  const { isOperator } = useViewer();
  const { voice, name, speaker: letter } = speaker;
  if (voice === null) return null;
  const { id } = recording;
  const change = (send: () => Promise<RecordingDetail>, done: string) => {
    void attempt(async () => {
      onChange(await send());
      announce(done);
      // The button that had the focus is gone.
      document.getElementById("speakers")?.focus({ preventScroll: true });
    });
  };
  const answer = (voice: string, confirmed: boolean, done: string) =>
    change(() => call("answerProposal", { id, body: { speaker: letter, voice, confirmed } }), done);
  const remember = (done: string) => change(() => call("rememberVoice", { id, body: { speaker: letter } }), done);
  return (
    <div class="voice">
      <Problem problem={problem} />
      {voice.state === "proposed" && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a visible legend
        <div class="proposal" role="group" aria-label={texts.isIt(strings.speakers.letter(letter), voice.name)}>
          <em>
            <bdi>{texts.proposed(voice.name)}</bdi>
          </em>
          <Button
            look={null}
            text={texts.confirm}
            disabled={isRunning}
            onClick={() => answer(voice.id, true, texts.confirmed(voice.name))}
          />
          <Button
            text={texts.reject}
            disabled={isRunning}
            onClick={() => answer(voice.id, false, texts.rejected(voice.name))}
          />
        </div>
      )}
      {voice.state === "new" && name !== null && (
        <Button
          text={texts.remember}
          of={texts.of(name)}
          disabled={isRunning}
          onClick={() => remember(texts.remembered(name))}
        />
      )}
      {voice.state === "remembered" &&
        (isOperator ? (
          <a class="soft" href={addressOf({ screen: "voices", account: recording.account.id })}>
            {texts.isRemembered(voice.name, name)}
          </a>
        ) : (
          <span class="soft">{texts.isRemembered(voice.name, name)}</span>
        ))}
      {voice.state === "unclear" && name !== null && <span class="soft">{texts.unclear}</span>}
    </div>
  );
}
