import { basename } from "node:path";
import { findAccount } from "../accounts/index.ts";
import type { LiveSessions } from "../live/index.ts";
import { findModel, type ModelEntry, productCatalogue } from "../models/index.ts";
import { messageOf } from "../text/index.ts";
import { type OfferedModel, parseListenAddress, WyomingServer } from "../wyoming/index.ts";
import type { ServerData } from "./open-data.ts";
import { StartError } from "./start-error.ts";

/**
 * Serves Wyoming if the settings have an address for it. A server without the account starts nevertheless: the account
 * can be created later.
 * @throws {StartError} if it cannot listen
 */
export async function openWyoming(data: ServerData, live: LiveSessions): Promise<AsyncDisposable & { cut(): void }> {
  const { settings, running, store, modelInUse, metrics, log, now } = data;
  if (settings.live.wyoming === "") return { cut() {}, async [Symbol.asyncDispose]() {} };
  const catalogue = productCatalogue();
  const account = () => running.values.live.wyoming_account;
  const server = new WyomingServer({
    live,
    store,
    account,
    model: () => offeredModel(modelInUse(), catalogue),
    networks: () => running.parsed.wyomingNetworks,
    isPaused: () => data.lease.trouble() !== null,
    metrics: metrics.wyoming,
    log,
    now,
    clock: () => performance.now(),
  });
  const address = await server.listen(parseListenAddress(settings.live.wyoming)).catch((error: unknown) => {
    throw new StartError(`live.wyoming: can't listen on ${settings.live.wyoming}: ${messageOf(error)}`);
  });
  log.info({ event: "wyoming.listening", address });
  if (findAccount(store, account()) === null) log.warn({ event: "wyoming.no_account", account: account() });
  return { cut: () => server.cut(), [Symbol.asyncDispose]: () => server.close() };
}

function offeredModel(
  { id, languages }: ReturnType<ServerData["modelInUse"]>,
  catalogue: readonly ModelEntry[],
): OfferedModel {
  const entry = findModel(catalogue, id);
  return {
    // A model that the settings name by its path has it as its id.
    id: basename(id),
    languages: languages.map(({ code }) => code),
    title: entry?.title ?? basename(id),
    homepage: entry?.homepage ?? "",
  };
}
