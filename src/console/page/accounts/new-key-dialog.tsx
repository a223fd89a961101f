import { useState } from "preact/hooks";
import type { Account, AccountPage, Answers, Key } from "../../contract/index.ts";
import { FormDialog, Select } from "../parts/index.ts";
import { call } from "../server.ts";
import { strings } from "../strings.ts";
import { SecretDialog } from "./secret-dialog.tsx";

const texts = strings.accounts;
/** Lifetimes of a key to choose from, in days; 0: it never expires. */
const LIFETIMES_DAYS = [0, 30, 90, 365] as const;
const lifetimes = LIFETIMES_DAYS.map((days) => ({
  id: String(days),
  name: days === 0 ? texts.never : texts.inDays(days),
}));

interface NewKeyDialogProps {
  readonly account: Account;
  /** All existing scopes. */
  readonly scopes: AccountPage["scopes"];
  readonly onKey: (key: Key) => void;
  readonly onClose: () => void;
}

/** Asks for the settings of a new key, creates it, and shows its secret. */
export function NewKeyDialog({ account, scopes, onKey, onClose }: NewKeyDialogProps) {
  const [created, setCreated] = useState<Answers["createKey"] | null>(null);
  const create = async (form: FormData) => {
    const days = Number(form.get("days"));
    const chosen = scopes.filter((scope) => form.getAll("scope").includes(scope));
    if (chosen.length === 0) throw new Error(texts.oneScope);
    const body = {
      account: account.id,
      name: String(form.get("name")).trim(),
      workspace: String(form.get("workspace") ?? "") || null,
      scopes: chosen,
      expires_in_days: days === 0 ? null : days,
    };
    const answer = await call("createKey", { body });
    onKey(answer.key);
    setCreated(answer);
  };
  if (created !== null) {
    const title = texts.createdTitle(created.key.name);
    return (
      <SecretDialog
        title={title}
        means={texts.once}
        label={texts.key}
        secret={created.secret}
        done={texts.done}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog title={texts.newKeyFor(account.name)} action={texts.create} onSubmit={create} onClose={onClose}>
      <label>
        {texts.keyName}
        <input name="name" required maxLength={100} autocomplete="off" />
      </label>
      {account.workspaces.length > 0 && (
        <Select label={texts.access} name="workspace" of={account.workspaces} none={texts.allWorkspaces} />
      )}
      <fieldset>
        <legend>{texts.scopesTitle}</legend>
        {scopes.map((scope) => (
          <label key={scope} class="check">
            <input type="checkbox" name="scope" value={scope} defaultChecked={scope !== "transcriptions:edit"} />
            {texts.scopeNames[scope]}
          </label>
        ))}
      </fieldset>
      <Select label={texts.expiry} name="days" of={lifetimes} />
    </FormDialog>
  );
}
