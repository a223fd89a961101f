import { useState } from "preact/hooks";
import type { Account, AccountPage, Key } from "../../contract/index.ts";
import { number } from "../format.ts";
import { Button, Meter, Moment, Problem, useTitle } from "../parts/index.ts";
import { addressOf } from "../route.ts";
import { call } from "../server.ts";
import { strings } from "../strings.ts";
import { useAttempt, useData } from "../use-data.ts";
import { KeyTable } from "./key-table.tsx";
import { NewKeyDialog } from "./new-key-dialog.tsx";
import { RetentionDialog } from "./retention-dialog.tsx";

const texts = strings.accounts;

/** Shows all accounts with the used part of their limits, and their keys. */
export function AccountsScreen() {
  useTitle(texts.name);
  const first = useData("accounts", {});
  const [later, setLater] = useState<readonly AccountPage[]>([]);
  const { problem, attempt } = useAttempt();
  const pages = first.value === null ? [] : [first.value, ...later];
  const next = pages.at(-1)?.next_cursor ?? null;
  const accounts = pages.flatMap((page) => page.accounts);
  const more = () =>
    void attempt(async () => {
      const page = await call("accounts", { query: { cursor: next } });
      setLater((before) => [...before, page]);
    });
  return (
    <div class="accounts">
      <h1>{texts.name}</h1>
      <p class="soft">{texts.byCommand}</p>
      <Problem problem={first.problem ?? problem} retry={first.problem === null ? more : first.retry} />
      {first.value !== null && accounts.length === 0 && <p class="empty">{texts.none}</p>}
      {accounts.map((account) => (
        <AccountSection key={account.id} account={account} scopes={first.value?.scopes ?? []} />
      ))}
      {next !== null && (
        <button type="button" class="more" onClick={more}>
          {strings.more}
        </button>
      )}
    </div>
  );
}

/** Shows one account with its limits and its keys. */
function AccountSection({ account, scopes }: { account: Account; scopes: AccountPage["scopes"] }) {
  const [isCreating, setCreating] = useState(false);
  const [isRetaining, setRetaining] = useState(false);
  const [retention, setRetention] = useState(account.retention);
  const [keys, setKeys] = useState(account.keys);
  const { name, standing, subscribed_until, usage, workspaces } = account;
  const meters = [
    [texts.audio, usage.audio_minutes_per_day],
    [texts.open, usage.recordings_per_account],
    [texts.hourly, usage.creates_per_hour],
    [texts.daily, usage.creates_per_day],
  ] as const;
  /** Updates the list with a key that was created or revoked. */
  const change = (key: Key) =>
    setKeys((before) =>
      before.some(({ id }) => id === key.id) ? before.map((old) => (old.id === key.id ? key : old)) : [...before, key],
    );
  return (
    <section class="account" aria-labelledby={`account-${account.id}`}>
      <div class="head">
        <h2 id={`account-${account.id}`}>
          <bdi>{name}</bdi>
        </h2>
        <span>
          <Button text={texts.retention.name} of={texts.forAccount(name)} onClick={() => setRetaining(true)} />{" "}
          <Button
            look={null}
            icon="more"
            text={texts.newKey}
            of={texts.forAccount(name)}
            onClick={() => setCreating(true)}
          />
        </span>
      </div>
      <p class="soft facts">
        <span class={standing === "active" ? undefined : "bad"}>{texts.statuses[standing]}</span>
        {subscribed_until !== null && (
          <span>
            {texts.subscribed} <Moment at={subscribed_until} />
          </span>
        )}
        {workspaces.length > 0 && <span>{texts.workspaces(workspaces.map((each) => each.name))}</span>}
        <span>{texts.rate(number(account.requests_per_minute))}</span>
        <span>
          {texts.retention.summary(
            retention.own.audio_days ?? retention.server.audio_days,
            retention.own.completed_days ?? retention.server.completed_days,
          )}
        </span>
        <a href={addressOf({ screen: "replacements", account: account.id })}>
          {strings.replacements.count(account.replacements)}
          <span class="unseen"> {strings.voices.of(name)}</span>
        </a>
        <a href={addressOf({ screen: "webhooks", account: account.id })}>
          {strings.webhooks.count(account.webhooks)}
          <span class="unseen"> {strings.voices.of(name)}</span>
        </a>
        {account.voices !== null && (
          <a href={addressOf({ screen: "voices", account: account.id })}>
            {strings.voices.count(account.voices)}
            <span class="unseen"> {strings.voices.of(name)}</span>
          </a>
        )}
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
      <KeyTable account={name} keys={keys} onKey={change} />
      {account.hidden_keys > 0 && <p class="soft">{texts.hidden(account.hidden_keys)}</p>}
      {isRetaining && (
        <RetentionDialog {...{ account, retention }} onChange={setRetention} onClose={() => setRetaining(false)} />
      )}
      {isCreating && <NewKeyDialog {...{ account, scopes }} onKey={change} onClose={() => setCreating(false)} />}
    </section>
  );
}
