import { useState } from "preact/hooks";
import type { Account, AccountPage, Key } from "../../console/contract.ts";
import { number } from "../format.ts";
import { Icon, Meter, Moment, Told, useTitle } from "../parts/index.ts";
import { ask, troubleOf } from "../server.ts";
import { strings } from "../strings.ts";
import { useAnswer } from "../use-answer.ts";
import { KeyTable } from "./key-table.tsx";
import { NewKeyDialog } from "./new-key-dialog.tsx";

const texts = strings.accounts;

/** Shows all accounts with the used part of their limits, and their keys. */
export function AccountsScreen() {
  useTitle(texts.name);
  const first = useAnswer<AccountPage>("accounts");
  const [later, setLater] = useState<readonly Account[]>([]);
  const [cursor, setCursor] = useState<string | null | undefined>(undefined);
  const [trouble, setTrouble] = useState<string | null>(null);
  const next = cursor === undefined ? (first.value?.next_cursor ?? null) : cursor;
  const more = async () => {
    try {
      const page = await ask<AccountPage>(`accounts?cursor=${encodeURIComponent(next ?? "")}`);
      setLater((before) => [...before, ...page.accounts]);
      setCursor(page.next_cursor);
      setTrouble(null);
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };
  /** Updates the list with a key that was created or revoked. */
  const change = (account: string, key: Key) => {
    const changed = (one: Account): Account => {
      if (one.id !== account) return one;
      const isKnown = one.keys.some(({ id }) => id === key.id);
      return { ...one, keys: isKnown ? one.keys.map((old) => (old.id === key.id ? key : old)) : [...one.keys, key] };
    };
    if (first.value !== null) first.set({ ...first.value, accounts: first.value.accounts.map(changed) });
    setLater((before) => before.map(changed));
  };
  const accounts = [...(first.value?.accounts ?? []), ...later];
  return (
    <div class="accounts">
      <h1>{texts.name}</h1>
      <p class="soft">{texts.byCommand}</p>
      <Told trouble={first.trouble ?? trouble} again={first.trouble === null ? () => void more() : first.again} />
      {first.value !== null && accounts.length === 0 && <p class="empty">{texts.none}</p>}
      {accounts.map((account) => (
        <AccountSection
          key={account.id}
          account={account}
          scopes={first.value?.scopes ?? []}
          onKey={(key) => change(account.id, key)}
        />
      ))}
      {next !== null && (
        <button type="button" class="more" onClick={() => void more()}>
          {texts.more}
        </button>
      )}
    </div>
  );
}

interface AccountSectionProps {
  readonly account: Account;
  /** All existing scopes. */
  readonly scopes: AccountPage["scopes"];
  readonly onKey: (key: Key) => void;
}

/** Shows one account with its limits and its keys. */
export function AccountSection({ account, scopes, onKey }: AccountSectionProps) {
  const [isMaking, setMaking] = useState(false);
  const { name, standing, subscribed_until, usage, workspaces } = account;
  const meters = [
    [texts.audio, usage.audio_minutes_per_day],
    [texts.inHand, usage.recordings_per_account],
    [texts.hourly, usage.creates_per_hour],
    [texts.daily, usage.creates_per_day],
  ] as const;
  return (
    <section class="account" aria-labelledby={`account-${account.id}`}>
      <div class="head">
        <h2 id={`account-${account.id}`}>
          <bdi>{name}</bdi>
        </h2>
        <button type="button" onClick={() => setMaking(true)}>
          <Icon name="more" /> {texts.newKey}
          <span class="unseen"> {texts.forAccount(name)}</span>
        </button>
      </div>
      <p class="soft facts">
        <span class={standing === "active" ? undefined : "bad"}>{texts.standings[standing]}</span>
        {subscribed_until !== null && (
          <span>
            {texts.subscribed} <Moment at={subscribed_until} />
          </span>
        )}
        {workspaces.length > 0 && <span>{texts.workspaces(workspaces.map((one) => one.name))}</span>}
        <span>{texts.rate(number(account.requests_per_minute))}</span>
      </p>
      <div class="meters">
        {meters.map(([label, { used, limit }]) => (
          <Meter
            key={label}
            label={label}
            value={used}
            limit={limit}
            text={texts.used(number(Math.round(used)), number(limit))}
          />
        ))}
      </div>
      <KeyTable account={name} keys={account.keys} onKey={onKey} />
      {isMaking && <NewKeyDialog {...{ account, scopes, onKey }} onClose={() => setMaking(false)} />}
    </section>
  );
}
