import { useState } from "preact/hooks";
import type { Voice, VoiceList } from "../../contract/index.ts";
import { announce } from "../announce.tsx";
import { duration } from "../format.ts";
import { Button, FormDialog, Moment, Problem } from "../parts/index.ts";
import { call } from "../server.ts";
import { strings } from "../strings.ts";
import { useData } from "../use-data.ts";
import { AccountPage } from "./account-page.tsx";

const texts = strings.voices;

/** Shows the voices that an account remembers, which can be renamed and deleted. */
export function VoicesScreen({ account }: { account: string }) {
  const { value: list, problem, retry, set } = useData("voices", { id: account });
  return (
    <AccountPage texts={texts} account={list?.account.name ?? null}>
      <Problem problem={problem} retry={retry} />
      {list !== null && (
        <>
          <p class="soft">{texts.means}</p>
          <p class="soft">{list.enabled ? texts.off(list.account.name) : texts.on(list.account.name)}</p>
          {list.enabled && list.voices.length === 0 && <p class="empty">{texts.none}</p>}
          <Voices list={list} onChange={set} />
        </>
      )}
    </AccountPage>
  );
}

function Voices({ list, onChange }: { list: VoiceList; onChange: (list: VoiceList) => void }) {
  const [renaming, setRenaming] = useState<Voice | null>(null);
  const [deleting, setDeleting] = useState<Voice | null>(null);
  const rename = async ({ id }: Voice, form: FormData) => {
    const name = String(form.get("name") ?? "").trim();
    onChange(await call("renameVoice", { id, body: { name } }));
    announce(texts.renamed(name));
    setRenaming(null);
  };
  const remove = async ({ id, name }: Voice) => {
    onChange(await call("deleteVoice", { id }));
    announce(texts.deleted(name));
    setDeleting(null);
    // The button that opened the dialog is gone.
    document.getElementById("main")?.focus();
  };
  return (
    <>
      <ul class="key-list voices" aria-label={texts.list}>
        {list.voices.map((voice) => (
          <VoiceRow key={voice.id} voice={voice} onRename={setRenaming} onDelete={setDeleting} />
        ))}
      </ul>
      {list.voices.length > 0 && <p class="soft">{texts.limit(list.voices.length, list.limit)}</p>}
      {renaming !== null && (
        <FormDialog
          title={texts.renameTitle(renaming.name)}
          action={strings.save}
          onSubmit={(form) => rename(renaming, form)}
          onClose={() => setRenaming(null)}
        >
          <p class="soft">{texts.renameMeans}</p>
          <label>
            {texts.newName}
            <input name="name" defaultValue={renaming.name} required maxLength={100} autocomplete="off" dir="auto" />
          </label>
        </FormDialog>
      )}
      {deleting !== null && (
        <FormDialog
          title={strings.remove.title(deleting.name)}
          action={strings.remove.remove}
          isBad
          onSubmit={() => remove(deleting)}
          onClose={() => setDeleting(null)}
        >
          <p>{texts.deleteMeans}</p>
        </FormDialog>
      )}
    </>
  );
}

interface VoiceRowProps {
  readonly voice: Voice;
  readonly onRename: (voice: Voice) => void;
  readonly onDelete: (voice: Voice) => void;
}

function VoiceRow({ voice, onRename, onDelete }: VoiceRowProps) {
  const { name, recordings, seconds, created_by, created_at, usable } = voice;
  return (
    <li>
      <div>
        <strong>
          <bdi>{name}</bdi>
        </strong>
        {!usable && <span class="status failed"> {texts.unusable}</span>}
      </div>
      <p class="soft facts">
        <span>{texts.basis(recordings, duration(seconds))}</span>
        <span>
          {texts.createdBy(created_by)} <Moment at={created_at} />
        </span>
      </p>
      <div class="changes">
        <Button text={texts.rename} of={name} onClick={() => onRename(voice)} />
        <Button look="quiet bad" text={strings.remove.ask} of={name} onClick={() => onDelete(voice)} />
      </div>
    </li>
  );
}
