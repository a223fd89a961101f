import { useState } from "preact/hooks";
import type { AccountReplacement, ReplacementList } from "../../contract/index.ts";
import { announce } from "../announce.tsx";
import { Button, FormDialog, Moment, Problem } from "../parts/index.ts";
import { call } from "../server.ts";
import { strings } from "../strings.ts";
import { useAttempt, useData } from "../use-data.ts";
import { AccountPage } from "./account-page.tsx";

const texts = strings.replacements;

/** Shows the words that an account's transcripts always write in one way. */
export function ReplacementsScreen({ account }: { account: string }) {
  const { value: list, problem, retry, set } = useData("accountReplacements", { id: account });
  const [isAdding, setAdding] = useState(false);
  const add = list !== null && <Button look={null} icon="more" text={texts.add} onClick={() => setAdding(true)} />;
  return (
    <AccountPage texts={texts} account={list?.account.name ?? null} action={add}>
      <p class="soft">{texts.means}</p>
      <Problem problem={problem} retry={retry} />
      {list !== null && list.replacements.length === 0 && <p class="empty">{texts.none}</p>}
      <ul class="key-list voices" aria-label={texts.name}>
        {list?.replacements.map((replacement) => (
          <ReplacementRow key={replacement.id} replacement={replacement} onChange={set} />
        ))}
      </ul>
      {list !== null && list.replacements.length > 0 && (
        <p class="soft">{texts.limit(list.replacements.length, list.limit)}</p>
      )}
      {list !== null && isAdding && <AddDialog list={list} onChange={set} onClose={() => setAdding(false)} />}
    </AccountPage>
  );
}

interface AddDialogProps {
  readonly list: ReplacementList;
  readonly onChange: (list: ReplacementList) => void;
  readonly onClose: () => void;
}

function AddDialog({ list, onChange, onClose }: AddDialogProps) {
  const add = async (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const body = { words: text("words"), text: text("text"), match_case: form.get("match_case") !== null };
    onChange(await call("addReplacement", { id: list.account.id, body }));
    announce(texts.added);
    onClose();
  };
  return (
    <FormDialog title={texts.addTitle} action={texts.add} onSubmit={add} onClose={onClose}>
      <label>
        {texts.words}
        <input name="words" required maxLength={100} autocomplete="off" dir="auto" />
      </label>
      <label>
        {texts.text}
        <input name="text" required maxLength={200} autocomplete="off" dir="auto" />
      </label>
      <label class="check">
        <input type="checkbox" name="match_case" />
        {texts.matchCase}
      </label>
    </FormDialog>
  );
}

interface RowProps {
  readonly replacement: AccountReplacement;
  readonly onChange: (list: ReplacementList) => void;
}

function ReplacementRow({ replacement, onChange }: RowProps) {
  const { id, words, text, match_case, created_by, created_at } = replacement;
  const { problem, isRunning, attempt } = useAttempt();
  const remove = async () => {
    onChange(await call("removeReplacement", { id }));
    announce(texts.removed);
    // The button is gone.
    document.getElementById("main")?.focus();
  };
  return (
    <li>
      <span>
        <bdi>{words}</bdi> → <strong dir="auto">{text}</strong>
      </span>
      <span class="soft facts">
        {match_case && <span>{texts.exactCase}</span>}
        <span>
          {strings.voices.createdBy(created_by)} <Moment at={created_at} />
        </span>
        <Problem problem={problem} />
      </span>
      <Button text={texts.remove} of={words} disabled={isRunning} onClick={() => void attempt(remove)} />
    </li>
  );
}
