import { useEffect, useRef, useState } from "preact/hooks";
import type { Account, AccountPage, Answers, Key } from "../../contract/index.ts";
import { announce } from "../announce.tsx";
import { Button, Dialog, FormDialog, Select } from "../parts/index.ts";
import { call } from "../server.ts";
import { strings } from "../strings.ts";

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
  if (created !== null) return <CreatedKeyDialog created={created} onClose={onClose} />;
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
            <input type="checkbox" name="scope" value={scope} defaultChecked />
            {texts.scopeNames[scope]}
          </label>
        ))}
      </fieldset>
      <Select label={texts.expiry} name="days" of={lifetimes} />
    </FormDialog>
  );
}

/** Shows the secret of a key to copy now: it cannot be shown again. */
function CreatedKeyDialog({ created, onClose }: { created: Answers["createKey"]; onClose: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const [isCopied, setCopied] = useState(false);
  useEffect(() => field.current?.focus(), []);
  const copy = async () => {
    field.current?.select();
    // Browsers provide the clipboard API only over HTTPS or on localhost. Elsewhere the user can copy the selected text
    // by hand.
    const isDone = await navigator.clipboard?.writeText(created.secret).then(
      () => true,
      () => false,
    );
    setCopied(isDone === true);
    announce(isDone ? texts.copied : texts.copyByHand);
  };
  return (
    <Dialog title={texts.createdTitle(created.key.name)} onClose={onClose}>
      <p>{texts.once}</p>
      <div class="secret">
        <input
          ref={field}
          readOnly
          value={created.secret}
          aria-label={texts.key}
          onFocus={() => field.current?.select()}
        />
        <Button look={null} text={isCopied ? texts.copied : texts.copy} onClick={() => void copy()} />
      </div>
      <div class="actions">
        <Button look="main" text={texts.done} onClick={onClose} />
      </div>
    </Dialog>
  );
}
