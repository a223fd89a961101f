import { useEffect, useRef } from "preact/hooks";
import { announce } from "../announce.tsx";
import { clock, languageName } from "../format.ts";
import { Button, Problem, useTitle } from "../parts/index.ts";
import { recordingAddress } from "../route.ts";
import { strings } from "../strings.ts";
import { useAttempt } from "../use-data.ts";
import { LiveBar } from "./live-bar.tsx";
import { LiveForm } from "./live-form.tsx";
import { useLive } from "./live-provider.tsx";
import type { LiveState } from "./live-session.ts";
import { plainText } from "./live-text.ts";
import { LiveWords } from "./live-words.tsx";
import type { LiveSetup } from "./stored-session.ts";

const texts = strings.live;

/** Transcribes the microphone or a tab while people speak. */
export function LiveScreen() {
  useTitle(texts.name);
  const { session, state, setup, unfinished } = useLive();
  return (
    <div class="live">
      <div class="head">
        <h1>{texts.name}</h1>
        {state !== null && state.text.next > 0 && <CopyButton state={state} />}
      </div>
      {session === null || state === null || setup === null ? (
        <>
          <p class="soft">{texts.means}</p>
          {unfinished === null ? <LiveForm /> : <Unfinished />}
        </>
      ) : (
        <>
          <Facts setup={setup} state={state} />
          <Problem problem={state.notice} />
          <LiveWords
            text={state.text}
            language={setup.language ?? state.text.language}
            onName={state.phase === "ended" ? null : (speaker, name) => session.name(speaker, name)}
          />
          {state.phase === "ended" ? <Ended state={state} /> : <LiveBar session={session} state={state} />}
        </>
      )}
    </div>
  );
}

function Facts({ setup, state }: { setup: LiveSetup; state: LiveState }) {
  const language = setup.language ?? state.text.language;
  return (
    <p class="soft facts">
      <bdi>{setup.account.name}</bdi>
      <span>{texts.sources[setup.source.kind]}</span>
      {language !== null && <span>{languageName(language)}</span>}
    </p>
  );
}

function CopyButton({ state: { text } }: { state: LiveState }) {
  const copy = async () => {
    const plain = plainText(text, (speaker) => text.names[speaker] ?? texts.speaker(speaker), clock);
    const isDone = await navigator.clipboard?.writeText(plain).then(
      () => true,
      () => false,
    );
    announce(isDone ? texts.copied : texts.copyFailed);
  };
  return <Button icon="copy" text={texts.copy} onClick={() => void copy()} />;
}

/** Offers to continue the session that ran when the page was left. */
function Unfinished() {
  const { proceed, endUnfinished } = useLive();
  const { problem, isRunning, attempt } = useAttempt();
  return (
    <div class="live-form">
      <Problem problem={problem} />
      <p>{texts.unfinished}</p>
      <div class="buttons">
        <Button
          look="main"
          icon="mic"
          text={texts.proceed}
          disabled={isRunning}
          onClick={() => void attempt(proceed)}
        />
        <Button look={null} text={texts.endIt} disabled={isRunning} onClick={endUnfinished} />
      </div>
    </div>
  );
}

/** Shows how the session has ended, and leads to its recording. */
function Ended({ state }: { state: LiveState }) {
  const { leave } = useLive();
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.scrollIntoView({ block: "nearest" }), []);
  const { ended } = state;
  const recording = ended !== null && "recording_id" in ended ? ended.recording_id : null;
  return (
    <section class="live-end" ref={panel}>
      <div role="status">
        <p class="statement">{texts.ended}</p>
        <p>{reasonText(ended)}</p>
        <p class="soft">{consequenceText(state)}</p>
      </div>
      <div class="line">
        {recording !== null && <a href={recordingAddress(recording)}>{texts.open}</a>}
        <Button look={null} icon="mic" text={texts.again} onClick={leave} />
      </div>
    </section>
  );
}

function reasonText(ended: LiveState["ended"]): string {
  if (ended === null) return "";
  if ("reason" in ended) return texts.ends[ended.reason];
  switch (ended.kind) {
    case "refused":
      return ended.message;
    case "expired":
      return texts.expired;
    case "unreachable":
      return texts.unreachable;
    case "signed_out":
      return texts.signedOut;
  }
}

/** Returns what becomes of the session. One that the server never opened becomes nothing. */
function consequenceText({ ended, id, keep }: LiveState): string {
  if (id === null) return "";
  if (!keep) return texts.notKept;
  return ended !== null && "recording_id" in ended && ended.recording_id !== null ? texts.becomes : texts.soon;
}
