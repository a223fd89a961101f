import { useState } from "preact/hooks";
import type { Account, AccountPage, Key } from "../../console/contract.ts";
import { number } from "../format.ts";
import { Icon, Meter, Moment } from "../parts/index.ts";
import { strings } from "../strings.ts";
import { KeyTable } from "./key-table.tsx";
import { NewKeyDialog } from "./new-key-dialog.tsx";

const texts = strings.accounts;

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
