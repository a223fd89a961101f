import { Command } from "commander";
import { checkName, getAccount, requireAccount } from "../../accounts/index.ts";
import { parseAllowList } from "../../addresses/index.ts";
import type { RecordingEvent } from "../../announcements/index.ts";
import type { Store } from "../../database/index.ts";
import { programVersion } from "../../program/index.ts";
import { DataDirectory } from "../../storage/index.ts";
import {
  addWebhook,
  countPending,
  type Delivery,
  listDeliveries,
  listWebhooks,
  parseWebhookUrl,
  pauseWebhook,
  recordingEvents,
  removeWebhook,
  requirePermitted,
  requireWebhook,
  resumeWebhook,
  rotateSecret,
  sendTest,
  type Webhook,
  WebhookError,
} from "../../webhooks/index.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { date, type JsonOption, optionalDate, print, printTable, readableTime } from "../output.ts";
import { checkedBy, duration, listOf, positiveNumber, resourceId } from "../parse-option.ts";
import { printable } from "../printable.ts";
import { dataDirectoryOf, dataSettingsOf, openStoreIn, openStoreOf, settingsCommand } from "../settings-options.ts";
import { auditor } from "./audit.ts";

/** transcribe webhooks add|list|show|test|rotate|pause|resume|remove */
export function webhooksCommand(): Command {
  return new Command("webhooks")
    .description("Manage the webhooks: addresses to which the events of an account's recordings are sent.")
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(testCommand())
    .addCommand(rotateCommand())
    .addCommand(pauseCommand())
    .addCommand(resumeCommand())
    .addCommand(removeCommand());
}

interface AddOptions extends JsonOption {
  readonly account: string;
  readonly events?: readonly RecordingEvent[];
}

const idArgument = ["<id>", "the webhook's id", resourceId] as const;

function addCommand(): Command {
  return settingsCommand("add", "Add a webhook and print its secret, only this once.")
    .argument("<url>", "https address to which events are sent", webhookAddress)
    .requiredOption("--account <name>", "the account's name or id", checkedBy(checkName))
    .option(
      "--events <events>",
      `the events that it receives, separated by commas (default: ${recordingEvents.join(",")})`,
      listOf(recordingEvents),
    )
    .action((url: URL, options: AddOptions, command: Command) => {
      const { store, allow } = open(command);
      const account = requireAccount(store, options.account);
      const events = recordingEvents.filter((event) => options.events?.includes(event) ?? true);
      requirePermitted(url, allow);
      const { webhook, secret } = addWebhook(store, account, { url: url.href, events }, auditor());
      process.stderr.write(`added webhook ${webhook.id}; its secret is:\n`);
      print(options, { ...toJson(store, webhook), secret }, () => secret);
    });
}

/** @throws {UsageError} for an invalid one; commander's message would have the address, which may contain a password */
function webhookAddress(text: string): URL {
  try {
    return parseWebhookUrl(text);
  } catch (error) {
    throw error instanceof WebhookError ? new UsageError(`url: ${error.message}`) : error;
  }
}

function listCommand(): Command {
  return settingsCommand("list", "List the webhooks, without their secrets.")
    .option("--account <name>", "only webhooks of this account", checkedBy(checkName))
    .action((options: JsonOption & { account?: string }, command: Command) => {
      const store = openStoreOf(command);
      const accountId = options.account === undefined ? null : requireAccount(store, options.account).id;
      const none = "no webhooks; add one with: transcribe webhooks add URL --account NAME";
      const show = (webhook: Webhook) => toJson(store, webhook);
      printTable(options, listWebhooks(store, accountId), show, none, {
        ID: ({ id }) => id,
        ACCOUNT: ({ accountId: of }) => getAccount(store, of)?.name ?? "-",
        URL: ({ url }) => printable(url),
        EVENTS: ({ events }) => events.map((event) => event.replace("recording.", "")).join(","),
        PENDING: ({ id }) => String(countPending(store, id)),
        STATE: stateOf,
      });
    });
}

function showCommand(): Command {
  return settingsCommand("show", "List the latest events of a webhook, with the answers to them, newest first.")
    .argument(...idArgument)
    .option("--limit <number>", "maximum number of events", positiveNumber, 50)
    .action((id: string, options: JsonOption & { limit: number }, command: Command) => {
      const store = openStoreOf(command);
      const webhook = requireWebhook(store, id);
      if (options.json !== true) process.stderr.write(`${printable(webhook.url)}: ${stateOf(webhook)}\n`);
      printTable(options, listDeliveries(store, id, options.limit), deliveryToJson, "no events yet", {
        ID: ({ id: delivery }) => delivery,
        EVENT: ({ type }) => type,
        RECORDING: ({ recordingId }) => recordingId ?? "-",
        CREATED: ({ createdAt }) => readableTime(createdAt),
        STATE: ({ state }) => state,
        ATTEMPTS: ({ attempts }) => String(attempts),
        ANSWER: answerOf,
        "NEXT ATTEMPT": (delivery) => readableTime(nextAttemptOf(delivery)),
      });
    });
}

function testCommand(): Command {
  return settingsCommand("test", "Send the event ping to a webhook and print the answer. Fails if it is not accepted.")
    .argument(...idArgument)
    .action(async (id: string, options: JsonOption, command: Command) => {
      const { store, allow } = open(command);
      const sent = await sendTest(store, id, { allow, userAgent: `transcribe/${programVersion}`, now: Date.now });
      print(options, deliveryToJson(sent), () => `${sent.state}: ${answerOf(sent)}`);
      if (sent.state !== "delivered") throw new CommandError("the webhook did not accept the event");
    });
}

function rotateCommand(): Command {
  return settingsCommand("rotate", "Replace the secret of a webhook and print the new one. Both sign for some time.")
    .argument(...idArgument)
    .option(
      "--overlap <time>",
      "how long the old secret signs, too: 30m, 12h, 7d (default: 24h)",
      duration,
      duration("24h"),
    )
    .action((id: string, options: JsonOption & { overlap: number }, command: Command) => {
      const store = openStoreOf(command);
      const { webhook, secret } = rotateSecret(store, id, options.overlap, auditor());
      process.stderr.write(`the old secret signs until ${readableTime(webhook.formerSecretUntil)}\n`);
      print(options, { ...toJson(store, webhook), secret }, () => secret);
    });
}

function pauseCommand(): Command {
  return settingsCommand("pause", "Stop sending to a webhook. Its events are stored meanwhile.")
    .argument(...idArgument)
    .action((id: string, options: JsonOption, command: Command) => {
      const store = openStoreOf(command);
      const webhook = pauseWebhook(store, id, auditor());
      print(options, toJson(store, webhook), () => `paused webhook ${id}`);
    });
}

function resumeCommand(): Command {
  return settingsCommand("resume", "Send to a paused webhook again, first what is pending.")
    .argument(...idArgument)
    .action((id: string, options: JsonOption, command: Command) => {
      const store = openStoreOf(command);
      const webhook = resumeWebhook(store, id, auditor());
      print(
        options,
        toJson(store, webhook),
        () => `resumed webhook ${id}; ${countPending(store, id)} events are pending`,
      );
    });
}

function removeCommand(): Command {
  return settingsCommand("remove", "Remove a webhook with its events, also those that are not delivered.")
    .argument(...idArgument)
    .action(async (id: string, options: JsonOption, command: Command) => {
      const webhook = await removeWebhook(openStoreIn(dataDirectoryOf(command)), id, auditor());
      print(options, { id: webhook.id }, () => `removed webhook ${id}`);
    });
}

/** Opens the database, and reads which non-public addresses webhooks may have. */
function open(command: Command) {
  const { storage, webhooks } = dataSettingsOf(command);
  return { store: openStoreIn(new DataDirectory(storage.data_dir)), allow: parseAllowList(webhooks.allow) };
}

const pauseTexts = { command: "by a command", gone: "its receiver answered 410", failing: "it failed for three days" };

function stateOf({ pausedAt, pauseReason }: Webhook): string {
  if (pausedAt === null) return "active";
  return `paused since ${readableTime(pausedAt)}: ${pauseTexts[pauseReason ?? "command"]}`;
}

/** Returns the time of the next attempt at an event that has failed. */
function nextAttemptOf({ dueAt, attempts }: Delivery): number | null {
  return attempts === 0 ? null : dueAt;
}

function answerOf({ lastStatus, lastFault, lastMilliseconds }: Delivery): string {
  if (lastMilliseconds === null) return "-";
  return `${lastStatus ?? lastFault?.replace("_", " ") ?? "-"} after ${lastMilliseconds} ms`;
}

function toJson(store: Store, webhook: Webhook) {
  return {
    id: webhook.id,
    account_id: webhook.accountId,
    account: getAccount(store, webhook.accountId)?.name ?? null,
    url: webhook.url,
    events: webhook.events,
    created_at: date(webhook.createdAt),
    former_secret_until: optionalDate(webhook.formerSecretUntil),
    paused_at: optionalDate(webhook.pausedAt),
    pause_reason: webhook.pauseReason,
    pending: countPending(store, webhook.id),
  };
}

function deliveryToJson(delivery: Delivery) {
  return {
    id: delivery.id,
    type: delivery.type,
    recording_id: delivery.recordingId,
    created_at: date(delivery.createdAt),
    state: delivery.state,
    attempts: delivery.attempts,
    last_attempt_at: optionalDate(delivery.lastAttemptAt),
    last_status: delivery.lastStatus,
    last_fault: delivery.lastFault,
    last_milliseconds: delivery.lastMilliseconds,
    next_attempt_at: optionalDate(nextAttemptOf(delivery)),
    delivered_at: optionalDate(delivery.deliveredAt),
  };
}
