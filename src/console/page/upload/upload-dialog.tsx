import { useState } from "preact/hooks";
import type { UploadOptions } from "../../contract/index.ts";
import { alphabetical, bytes, languageName } from "../format.ts";
import { Dialog, FormDialog, Problem, Select } from "../parts/index.ts";
import { strings } from "../strings.ts";
import { useData } from "../use-data.ts";
import type { Choice, UploadRequest } from "./use-uploads.ts";

const texts = strings.upload;

interface UploadDialogProps {
  readonly choice: Choice;
  readonly onSend: (upload: UploadRequest) => void;
  readonly onClose: () => void;
}

/** The text parts of a create's form that the dialog asks for. */
const partNames = ["language", "task", "prompt", "min_speakers", "max_speakers"];

/** Asks for the owner of recordings, and for what the user knows about them, before they are uploaded. */
export function UploadDialog({ choice, onSend, onClose }: UploadDialogProps) {
  const { value: options, problem, retry } = useData("uploadOptions", {});
  const title = texts.title(choice === "link" ? 1 : choice.length);
  if (options !== null && options.accounts.length > 0) {
    return <UploadForm {...{ title, choice, options, onSend, onClose }} />;
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Problem problem={problem} retry={retry} />
      {options !== null && <p class="alert">{texts.noAccount}</p>}
    </Dialog>
  );
}

function UploadForm(props: UploadDialogProps & { title: string; options: UploadOptions }) {
  const { title, choice, options, onSend, onClose } = props;
  const [accountId, setAccount] = useState(options.accounts[0]?.id ?? "");
  const [fewest, setFewest] = useState(1);
  const workspaces = options.accounts.find(({ id }) => id === accountId)?.workspaces ?? [];
  const files = choice === "link" ? [] : choice;
  const fitting = files.filter((file) => file.size <= options.max_bytes);
  const count = choice === "link" ? 1 : fitting.length;
  const languages = options.languages
    .map(({ code }) => ({ id: code, name: languageName(code) }))
    .sort((a, b) => alphabetical(a.name, b.name));
  const send = async (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? "").trim();
    for (const source of choice === "link" ? [text("link")] : fitting) {
      const parts = Object.fromEntries(partNames.map((name) => [name, text(name)]));
      onSend({ source, account: accountId, workspace: text("workspace"), parts });
    }
    onClose();
  };
  return (
    <FormDialog title={title} action={texts.submit(count)} disabled={count === 0} onSubmit={send} onClose={onClose}>
      {choice === "link" && (
        <label>
          {texts.link}
          <input name="link" type="url" required maxLength={2048} pattern="https?://.+" placeholder="https://" />
        </label>
      )}
      <ul class="files">
        {files.map((file) => (
          <li key={file.name} class={fitting.includes(file) ? undefined : "bad"}>
            <bdi>{file.name}</bdi>{" "}
            <span class="soft">
              {fitting.includes(file) ? bytes(file.size) : texts.tooLarge(bytes(options.max_bytes))}
            </span>
          </li>
        ))}
      </ul>
      {options.accounts.length > 1 && (
        <Select label={texts.account} of={options.accounts} value={accountId} onChoose={setAccount} />
      )}
      {workspaces.length > 0 && (
        <Select key={accountId} label={texts.workspace} name="workspace" of={workspaces} none={texts.noWorkspace} />
      )}
      <Select label={texts.language} name="language" of={languages} none={texts.anyLanguage} />
      {options.translates && (
        <label class="check">
          <input name="task" type="checkbox" value="translate" />
          {texts.translate}
        </label>
      )}
      <label>
        {texts.prompt}
        <textarea name="prompt" rows={2} maxLength={2000} placeholder={texts.promptExample} />
      </label>
      <fieldset class="speakers">
        <legend>{texts.speakers}</legend>
        <label>
          {texts.minSpeakers}
          <input
            {...{ name: "min_speakers", type: "number", min: 1, max: 50, placeholder: texts.anyNumber }}
            onInput={(event) => setFewest(event.currentTarget.valueAsNumber || 1)}
          />
        </label>
        <label>
          {texts.maxSpeakers}
          <input {...{ name: "max_speakers", type: "number", min: fewest, max: 50, placeholder: texts.anyNumber }} />
        </label>
      </fieldset>
    </FormDialog>
  );
}
