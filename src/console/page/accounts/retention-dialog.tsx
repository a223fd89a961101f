import type { Account, Retention } from "../../contract/index.ts";
import { announce } from "../announce.tsx";
import { FormDialog } from "../parts/index.ts";
import { call } from "../server.ts";
import { strings } from "../strings.ts";

const texts = strings.accounts.retention;

interface RetentionDialogProps {
  readonly account: Pick<Account, "id" | "name">;
  readonly retention: Retention;
  readonly onChange: (retention: Retention) => void;
  readonly onClose: () => void;
}

/** Asks for how long the recordings of an account are kept. An empty field stands for the days of the settings. */
export function RetentionDialog({ account, retention, onChange, onClose }: RetentionDialogProps) {
  const { own, server } = retention;
  const save = async (form: FormData) => {
    const days = (name: string) => {
      const text = String(form.get(name) ?? "").trim();
      return text === "" ? null : Number(text);
    };
    const body = { audio_days: days("audio_days"), completed_days: days("completed_days") };
    onChange(await call("setRetention", { id: account.id, body }));
    announce(texts.saved);
    onClose();
  };
  return (
    <FormDialog title={texts.title(account.name)} action={texts.save} onSubmit={save} onClose={onClose}>
      <p>{texts.means}</p>
      {(["audio_days", "completed_days"] as const).map((name) => (
        <label key={name}>
          {texts.fields[name]}
          <input
            name={name}
            type="number"
            min={0}
            max={36_500}
            step={1}
            autocomplete="off"
            defaultValue={own[name] === null ? "" : String(own[name])}
            placeholder={texts.fromSettings(server[name])}
          />
        </label>
      ))}
    </FormDialog>
  );
}
