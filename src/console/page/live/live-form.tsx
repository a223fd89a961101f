import { useEffect, useState } from "preact/hooks";
import type { UploadOptions } from "../../contract/index.ts";
import { alphabetical, languageName } from "../format.ts";
import { Icon, Problem, Select } from "../parts/index.ts";
import { strings } from "../strings.ts";
import { useAttempt, useData } from "../use-data.ts";
import { canShare, microphones, type SourceKind } from "./capture.ts";
import { useLive } from "./live-provider.tsx";

const texts = strings.live;
const kinds: readonly SourceKind[] = ["microphone", "tab", "both"];

/** Asks for the owner, the sound and the language of a session, and starts it. */
export function LiveForm() {
  const { value: options, problem, retry } = useData("uploadOptions", {});
  if (options === null) return <Problem problem={problem} retry={retry} />;
  if (options.accounts.length === 0) return <p class="alert">{strings.upload.noAccount}</p>;
  return <Form options={options} />;
}

function Form({ options }: { options: UploadOptions }) {
  const { start } = useLive();
  const { problem, isRunning, attempt } = useAttempt();
  const [accountId, setAccount] = useState(options.accounts[0]?.id ?? "");
  const [kind, setKind] = useState<SourceKind>("microphone");
  const [keep, setKeep] = useState(true);
  const known = useMicrophones();
  const account = options.accounts.find(({ id }) => id === accountId) ?? options.accounts[0];
  const workspaces = account?.workspaces ?? [];
  const languages = options.languages
    .map(({ code }) => ({ id: code, name: languageName(code) }))
    .sort((a, b) => alphabetical(a.name, b.name));
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    if (account === undefined) return;
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? "").trim() || null;
    const source = { kind, microphone: text("microphone") ?? "" };
    const words = { language: text("language"), prompt: text("prompt"), name: text("name") };
    const owner = { account: { id: account.id, name: account.name }, workspace: text("workspace") };
    void attempt(() => start({ ...owner, ...words, keep, source }, source));
  };
  return (
    <form class="live-form" onSubmit={submit}>
      <Problem problem={problem ?? (isSecureContext ? null : texts.faults.insecure)} />
      {options.accounts.length > 1 && (
        <Select label={strings.upload.account} of={options.accounts} value={accountId} onChoose={setAccount} />
      )}
      {workspaces.length > 0 && (
        <Select
          key={accountId}
          {...{ label: strings.upload.workspace, name: "workspace", of: workspaces, none: strings.upload.noWorkspace }}
        />
      )}
      {canShare() && (
        <Select
          label={texts.source}
          of={kinds.map((id) => ({ id, name: texts.sources[id] }))}
          value={kind}
          onChoose={(id) => setKind(kinds.find((each) => each === id) ?? "microphone")}
        />
      )}
      {kind !== "microphone" && <p class="soft">{texts.shareMeans}</p>}
      {kind !== "tab" && known.length > 1 && (
        <Select label={texts.microphone} name="microphone" of={known} none={texts.defaultMicrophone} />
      )}
      <Select label={strings.upload.language} name="language" of={languages} none={strings.upload.anyLanguage} />
      <label>
        {strings.upload.prompt}
        <textarea name="prompt" rows={2} maxLength={2000} placeholder={strings.upload.promptExample} />
      </label>
      <div>
        <label class="check">
          <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} />
          {texts.keep}
        </label>
        <p class="soft">{texts.keepMeans}</p>
      </div>
      {keep && (
        <label>
          {texts.recordingName}
          <input name="name" maxLength={200} autocomplete="off" placeholder={texts.nameExample} />
        </label>
      )}
      <button type="submit" class="main" disabled={isRunning || !isSecureContext}>
        <Icon name="mic" /> {isRunning ? texts.starting : texts.start}
      </button>
    </form>
  );
}

/** Returns the microphones of this computer, as far as the browser tells. */
function useMicrophones() {
  const [known, setKnown] = useState<Awaited<ReturnType<typeof microphones>>>([]);
  useEffect(() => {
    let isOver = false;
    void microphones().then((found) => {
      if (!isOver) setKnown(found);
    });
    return () => {
      isOver = true;
    };
  }, []);
  return known;
}
