import { useEffect, useRef, useState } from "preact/hooks";
import type { Account, AccountPage, Key, MadeKey, NewKey } from "../../console/contract.ts";
import { announce } from "../announce.tsx";
import { Actions, Dialog, Options, Told } from "../parts/index.ts";
import { ask, troubleOf } from "../server.ts";
import { strings } from "../strings.ts";

const texts = strings.accounts;
/** Lifetimes of a key to choose from, in days; 0: it never expires. */
const lives = [0, 30, 90, 365] as const;

interface NewKeyDialogProps {
  readonly account: Account;
  readonly scopes: AccountPage["scopes"];
  readonly onKey: (key: Key) => void;
  readonly onClose: () => void;
}

/** Asks for the settings of a new key, creates it, and shows its secret. The secret cannot be shown again. */
export function NewKeyDialog({ account, scopes, onKey, onClose }: NewKeyDialogProps) {
  const [made, setMade] = useState<MadeKey | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const make = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const days = Number(form.get("days"));
    const body: NewKey = {
      account: account.id,
      name: String(form.get("name")).trim(),
      workspace: String(form.get("workspace") ?? "") || null,
      scopes: scopes.filter((scope) => form.getAll("scope").includes(scope)),
      expires_in_days: days === 0 ? null : days,
    };
    if (body.scopes?.length === 0) {
      setTrouble(texts.oneScope);
      return;
    }
    try {
      const answer = await ask<MadeKey>("keys", { method: "POST", body });
      onKey(answer.key);
      setMade(answer);
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };
  if (made !== null) {
    return (
      <Dialog title={texts.madeTitle(made.key.name)} onClose={onClose}>
        <Secret secret={made.secret} />
        <div class="actions">
          <button type="button" class="main" onClick={onClose}>
            {texts.kept}
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={texts.newKeyFor(account.name)} onClose={onClose}>
      <form onSubmit={(event) => void make(event)}>
        <Told trouble={trouble} />
        <label>
          {texts.keyName}
          <input name="name" required maxLength={100} autocomplete="off" />
        </label>
        {account.workspaces.length > 0 && (
          <label>
            {texts.sees}
            <select name="workspace">
              <option value="">{texts.seesAll}</option>
              <Options of={account.workspaces} />
            </select>
          </label>
        )}
        <fieldset>
          <legend>{texts.may}</legend>
          {scopes.map((scope) => (
            <label key={scope} class="check">
              <input type="checkbox" name="scope" value={scope} defaultChecked />
              {texts.scopeNames[scope]}
            </label>
          ))}
        </fieldset>
        <label>
          {texts.ends}
          <select name="days">
            {lives.map((days) => (
              <option key={days} value={days}>
                {days === 0 ? texts.never : texts.inDays(days)}
              </option>
            ))}
          </select>
        </label>
        <Actions onCancel={onClose}>
          <button type="submit" class="main">
            {texts.make}
          </button>
        </Actions>
      </form>
    </Dialog>
  );
}

/** Shows the secret of a key to copy now: it cannot be shown again. */
export function Secret({ secret }: { secret: string }) {
  const field = useRef<HTMLInputElement>(null);
  const [isCopied, setCopied] = useState(false);
  useEffect(() => field.current?.focus(), []);
  const copy = async () => {
    field.current?.select();
    // Browsers provide the clipboard API only over HTTPS or on localhost. Elsewhere the user can copy the selected text
    // by hand.
    const isDone = await navigator.clipboard?.writeText(secret).then(
      () => true,
      () => false,
    );
    setCopied(isDone === true);
    announce(isDone ? texts.copied : texts.copyByHand);
  };
  return (
    <>
      <p>{texts.once}</p>
      <div class="secret">
        <input ref={field} readOnly value={secret} aria-label={texts.key} onFocus={() => field.current?.select()} />
        <button type="button" onClick={() => void copy()}>
          {isCopied ? texts.copied : texts.copy}
        </button>
      </div>
    </>
  );
}
