import { useState } from "preact/hooks";
import type { Delivery, Webhook, WebhookList } from "../../contract/index.ts";
import { announce } from "../announce.tsx";
import { Ago, Button, FormDialog, Moment, Problem } from "../parts/index.ts";
import { recordingAddress } from "../route.ts";
import { call } from "../server.ts";
import { strings } from "../strings.ts";
import { useAttempt, useData } from "../use-data.ts";
import { AccountPage } from "./account-page.tsx";
import { SecretDialog } from "./secret-dialog.tsx";

const texts = strings.webhooks;

/** Shows the webhooks of an account with their latest events. */
export function WebhooksScreen({ account }: { account: string }) {
  const { value: list, problem, retry, set } = useData("webhooks", { id: account });
  const [isAdding, setAdding] = useState(false);
  const add = list !== null && <Button look={null} icon="more" text={texts.add} onClick={() => setAdding(true)} />;
  return (
    <AccountPage texts={texts} account={list?.account.name ?? null} action={add}>
      <p class="soft">{texts.means}</p>
      <Problem problem={problem} retry={retry} />
      {list !== null && list.webhooks.length === 0 && <p class="empty">{texts.none}</p>}
      {list?.webhooks.map((webhook) => (
        <WebhookSection key={webhook.id} webhook={webhook} onChange={set} />
      ))}
      {list !== null && isAdding && <AddDialog list={list} onChange={set} onClose={() => setAdding(false)} />}
    </AccountPage>
  );
}

interface AddDialogProps {
  readonly list: WebhookList;
  readonly onChange: (list: WebhookList) => void;
  readonly onClose: () => void;
}

/** Asks for the address and the events of a new webhook, adds it, and shows its secret. */
function AddDialog({ list, onChange, onClose }: AddDialogProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const add = async (form: FormData) => {
    const events = list.events.filter((event) => form.getAll("event").includes(event));
    if (events.length === 0) throw new Error(texts.oneEvent);
    const body = { url: String(form.get("url") ?? "").trim(), events };
    const added = await call("addWebhook", { id: list.account.id, body });
    onChange(added.list);
    setSecret(added.secret);
  };
  if (secret !== null) return <WebhookSecret title={texts.added} secret={secret} onClose={onClose} />;
  return (
    <FormDialog title={texts.addTitle} action={texts.add} onSubmit={add} onClose={onClose}>
      <label>
        {texts.address}
        <input name="url" type="url" required maxLength={2048} autocomplete="off" placeholder="https://" />
      </label>
      <fieldset>
        <legend>{texts.eventsTitle}</legend>
        {list.events.map((event) => (
          <label key={event} class="check">
            <input type="checkbox" name="event" value={event} defaultChecked />
            {texts.events[event]}
          </label>
        ))}
      </fieldset>
    </FormDialog>
  );
}

function WebhookSection({ webhook, onChange }: { webhook: Webhook; onChange: (list: WebhookList) => void }) {
  const [isRemoving, setRemoving] = useState(false);
  const [isRotating, setRotating] = useState(false);
  const { problem, isRunning, attempt } = useAttempt();
  const { id, url, events, paused_at, pause_reason, pending, created_by, created_at } = webhook;
  const test = async () => {
    const list = await call("testWebhook", { id });
    const [latest] = list.webhooks.find((each) => each.id === id)?.deliveries ?? [];
    onChange(list);
    announce(latest?.state === "delivered" ? texts.testPassed : texts.testFailed);
  };
  const pause = async (paused: boolean) => {
    onChange(await call("pauseWebhook", { id, body: { paused } }));
    announce(paused ? texts.paused : texts.resumed);
  };
  const remove = async () => {
    onChange(await call("removeWebhook", { id }));
    announce(texts.removed);
    // The button that opened the dialog is gone.
    document.getElementById("main")?.focus();
  };
  return (
    <section class="account" aria-labelledby={`webhook-${id}`}>
      <h2 id={`webhook-${id}`} class="webhook-address">
        <bdi>{url}</bdi>
      </h2>
      <p class="soft facts">
        {paused_at !== null && (
          <span class="bad">
            {texts.pauseReasons[pause_reason ?? "command"]} <Ago at={paused_at} />
          </span>
        )}
        <span>{events.map((event) => texts.events[event]).join(", ")}</span>
        <span>{texts.pending(pending)}</span>
        <span>
          {strings.voices.createdBy(created_by)} <Moment at={created_at} />
        </span>
      </p>
      <Problem problem={problem} />
      <div class="changes">
        <Button text={texts.test} of={url} disabled={isRunning} onClick={() => void attempt(test)} />
        <Button
          text={paused_at === null ? texts.pause : texts.resume}
          of={url}
          disabled={isRunning}
          onClick={() => void attempt(() => pause(paused_at === null))}
        />
        <Button text={texts.rotate} of={url} onClick={() => setRotating(true)} />
        <Button look="quiet bad" text={texts.remove} of={url} onClick={() => setRemoving(true)} />
      </div>
      <Deliveries webhook={webhook} />
      {isRotating && <RotateDialog id={id} onChange={onChange} onClose={() => setRotating(false)} />}
      {isRemoving && (
        <FormDialog
          title={texts.removeTitle}
          action={texts.remove}
          isBad
          onSubmit={remove}
          onClose={() => setRemoving(false)}
        >
          <p>{texts.removeMeans(pending)}</p>
        </FormDialog>
      )}
    </section>
  );
}

/** Asks whether to replace the secret of a webhook, and shows the new one. */
function RotateDialog({ id, onChange, onClose }: Omit<AddDialogProps, "list"> & { readonly id: string }) {
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = async () => {
    const rotated = await call("rotateWebhook", { id });
    onChange(rotated.list);
    setSecret(rotated.secret);
  };
  if (secret !== null) return <WebhookSecret title={texts.rotated} secret={secret} onClose={onClose} />;
  return (
    <FormDialog title={texts.rotateTitle} action={texts.rotate} onSubmit={rotate} onClose={onClose}>
      <p>{texts.rotateMeans}</p>
    </FormDialog>
  );
}

interface WebhookSecretProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}

function WebhookSecret({ title, secret, onClose }: WebhookSecretProps) {
  return (
    <SecretDialog
      title={title}
      means={texts.once}
      label={texts.secret}
      secret={secret}
      done={texts.saved}
      onClose={onClose}
    />
  );
}

function Deliveries({ webhook: { url, deliveries } }: { webhook: Webhook }) {
  if (deliveries.length === 0) return <p class="empty">{texts.noDeliveries}</p>;
  return (
    <ul class="key-list" aria-label={texts.deliveriesOf(url)}>
      {deliveries.map((delivery) => (
        <DeliveryRow key={delivery.id} delivery={delivery} />
      ))}
    </ul>
  );
}

function DeliveryRow({ delivery }: { delivery: Delivery }) {
  const { event, recording, state, created_at, attempts, status, fault, milliseconds } = delivery;
  const answer = status === null ? fault && texts.faults[fault] : String(status);
  return (
    <li>
      <div>
        <strong>{texts.events[event]}</strong>{" "}
        <span class={state === "failed" ? "status failed" : "soft"}>{texts.states[state]}</span>
      </div>
      <p class="soft facts">
        <span>
          <Moment at={created_at} />
        </span>
        {recording !== null && event !== "recording.deleted" && (
          <a href={recordingAddress(recording)}>{texts.recording}</a>
        )}
        {attempts > 0 && <span>{texts.attempts(attempts)}</span>}
        {answer !== null && milliseconds !== null && <span>{texts.answer(answer, milliseconds)}</span>}
      </p>
    </li>
  );
}
