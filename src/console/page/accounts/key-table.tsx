import { useState } from "preact/hooks";
import type { Key } from "../../contract/index.ts";
import { announce } from "../announce.tsx";
import { Ago, Button, FormDialog, Moment } from "../parts/index.ts";
import { call } from "../server.ts";
import { strings } from "../strings.ts";

const texts = strings.accounts;

interface KeyTableProps {
  /** Name of the account. */
  readonly account: string;
  readonly keys: readonly Key[];
  readonly onKey: (key: Key) => void;
}

/** Shows an account's keys; expired and revoked keys are collapsed. */
export function KeyTable({ account, keys, onKey }: KeyTableProps) {
  const [revoking, setRevoking] = useState<Key | null>(null);
  const active = keys.filter(({ state }) => state === "active");
  const past = keys.filter(({ state }) => state !== "active");
  const revoke = async ({ id, name }: Key) => {
    onKey(await call("revokeKey", { id }));
    announce(texts.revoked(name));
    setRevoking(null);
  };
  return (
    <>
      {active.length === 0 && <p class="empty">{texts.noKeys}</p>}
      {active.length > 0 && <Keys title={texts.keysOf(account)} keys={active} onRevoke={setRevoking} />}
      {past.length > 0 && (
        <details>
          <summary>{texts.past(past.length)}</summary>
          <Keys title={texts.pastOf(account)} keys={past} />
        </details>
      )}
      {revoking !== null && (
        <FormDialog
          title={texts.revokeTitle(revoking.name)}
          action={texts.revoke}
          isBad
          onSubmit={() => revoke(revoking)}
          onClose={() => setRevoking(null)}
        >
          <p>{texts.revokeMeans}</p>
        </FormDialog>
      )}
    </>
  );
}

type KeysProps = { title: string; keys: readonly Key[]; onRevoke?: (key: Key) => void };

function Keys({ title, keys, onRevoke }: KeysProps) {
  return (
    <ul class="key-list" aria-label={title}>
      {keys.map((key) => (
        <li key={key.id}>
          <div>
            <strong>
              <bdi>{key.name}</bdi>
            </strong>{" "}
            <code>{key.hint}…</code>
            {key.state !== "active" && <span class="status failed">{texts.states[key.state]}</span>}
          </div>
          <p class="soft facts">
            <span>{texts.scopes(key.scopes)}</span>
            {key.workspace !== null && <span>{texts.only(key.workspace.name)}</span>}
            <span>
              {texts.created} <Moment at={key.created_at} />
            </span>
            {key.expires_at !== null && (
              <span>
                {texts.expires} <Moment at={key.expires_at} />
              </span>
            )}
            <span>
              {key.last_used_at === null ? texts.unused : [`${texts.lastUsed} `, <Ago key="" at={key.last_used_at} />]}
            </span>
          </p>
          {onRevoke !== undefined && (
            <Button look="quiet bad" text={texts.revoke} of={key.name} onClick={() => onRevoke(key)} />
          )}
        </li>
      ))}
    </ul>
  );
}
