import { useEffect, useRef, useState } from "preact/hooks";
import type { UploadOptions } from "../../console/contract.ts";
import { alphabetical, bytes, languageName } from "../format.ts";
import { Actions, Dialog, Options, Told } from "../parts/index.ts";
import { strings } from "../strings.ts";
import { useAnswer } from "../use-answer.ts";
import type { Choice, Sending } from "./use-uploads.ts";

const texts = strings.upload;

interface UploadDialogProps {
  readonly choice: Choice;
  readonly onSend: (sending: Sending) => void;
  readonly onClose: () => void;
}

/** Asks for the owner and the language of recordings before they are uploaded. */
export function UploadDialog({ choice, onSend, onClose }: UploadDialogProps) {
  const { value: options, trouble, again } = useAnswer<UploadOptions>("upload-options");
  return (
    <Dialog title={texts.title(choice === "link" ? 1 : choice.length)} onClose={onClose}>
      <Told trouble={trouble} again={again} />
      {options !== null && <UploadForm {...{ choice, options, onSend, onClose }} />}
    </Dialog>
  );
}

function UploadForm({ choice, options, onSend, onClose }: UploadDialogProps & { options: UploadOptions }) {
  const [accountId, setAccount] = useState(options.accounts[0]?.id ?? "");
  const [workspace, setWorkspace] = useState("");
  const [language, setLanguage] = useState("");
  const account = options.accounts.find(({ id }) => id === accountId);
  const [link, setLink] = useState("");
  const files = choice === "link" ? [] : choice;
  const fitting = files.filter((file) => file.size <= options.most_bytes);
  const sources = choice === "link" ? [link.trim()] : fitting;
  const languages = options.languages
    .map(({ code }) => ({ id: code, name: languageName(code) }))
    .sort((one, other) => alphabetical(one.name, other.name));
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>("input, select")?.focus(), []);
  const send = (event: Event) => {
    event.preventDefault();
    for (const source of sources) onSend({ source, account: accountId, workspace, language });
    onClose();
  };
  if (account === undefined) return <p class="told">{texts.noAccount}</p>;
  return (
    <form ref={form} onSubmit={send}>
      {choice === "link" && (
        <label>
          {texts.link}
          <input
            type="url"
            required
            maxLength={2048}
            pattern="https?://.+"
            placeholder="https://"
            value={link}
            onInput={(event) => setLink(event.currentTarget.value)}
          />
        </label>
      )}
      <ul class="files">
        {files.map((file) => (
          <li key={file.name} class={fitting.includes(file) ? undefined : "bad"}>
            <bdi>{file.name}</bdi>{" "}
            <span class="soft">
              {fitting.includes(file) ? bytes(file.size) : texts.tooLarge(bytes(options.most_bytes))}
            </span>
          </li>
        ))}
      </ul>
      {options.accounts.length > 1 && (
        <label>
          {texts.account}
          <select
            value={accountId}
            onChange={(event) => {
              setAccount(event.currentTarget.value);
              setWorkspace("");
            }}
          >
            <Options of={options.accounts} />
          </select>
        </label>
      )}
      {account.workspaces.length > 0 && (
        <label>
          {texts.workspace}
          <select value={workspace} onChange={(event) => setWorkspace(event.currentTarget.value)}>
            <option value="">{texts.noWorkspace}</option>
            <Options of={account.workspaces} />
          </select>
        </label>
      )}
      <label>
        {texts.language}
        <select value={language} onChange={(event) => setLanguage(event.currentTarget.value)}>
          <option value="">{texts.anyLanguage}</option>
          <Options of={languages} />
        </select>
      </label>
      <Actions onCancel={onClose}>
        <button type="submit" class="main" disabled={sources.length === 0}>
          {texts.send(sources.length)}
        </button>
      </Actions>
    </form>
  );
}
