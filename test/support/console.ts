import type { Static, TSchema } from "@sinclair/typebox";
import { ffmpegPath } from "../../harness/checkout.ts";
import { bodyOf } from "../../harness/client.ts";
import { parseAllowList } from "../../src/addresses/index.ts";
import { loadSettings, type Settings } from "../../src/config/index.ts";
import { errorSchema, recordingPageSchema, type SignInRequest } from "../../src/console/contract/index.ts";
import { type Console, createConsole, createLink, isConsolePath, toConsoleAnswer } from "../../src/console/index.ts";
import type { FleetMachine } from "../../src/console/server/services.ts";
import { DiskSpace, type MachineTroubleKind } from "../../src/disk/index.ts";
import { PlaybackCopies } from "../../src/media/index.ts";
import type { Segment } from "../../src/segments/index.ts";
import { DiskUsage } from "../../src/storage/index.ts";
import { ApiServer, type ApiServerOptions } from "./http.ts";
import { TalkingSessions } from "./talking-sessions.ts";

const defaults = loadSettings({ file: undefined, environment: {}, flags: {} });

/** A GPU whose operations share the decoder. */
const working = { lanes: 2, waiting: 3, decoder: { slots: 2, rowsPerStep: 6.1 } };

/** An installed model that is not in use, and knows only English. */
const english = { id: "english-only", languages: [{ code: "en", name: "English", modelCode: "en" }] };

/** The real HTTP server with the API and the console, without an engine; see ApiServer. */
export class ConsoleServer implements Disposable {
  readonly api: ApiServer;
  /** Ids in the order in which the queue would start them. */
  waiting: readonly string[] = [];
  /** Workers of the fleet; null: the server works alone. */
  machines: readonly FleetMachine[] | null = null;
  fleetProblem: string | null = null;
  /** The settings of the console and of the sign-in provider. A test may replace them, as a reload does. */
  settings: Pick<Settings, "console" | "oidc"> = defaults;
  readonly live = new TalkingSessions();
  isLiveOn = true;
  readonly troubles = new Map<string, MachineTroubleKind>();
  /** The current console; null before the server has created it. */
  console: Console | null = null;

  constructor(options: ApiServerOptions = {}) {
    this.api = new ApiServer({
      ...options,
      surfaces: (app, usage) => {
        const made = createConsole({
          ...{ ...app, usage },
          queue: {
            waiting: (most) => this.waiting.slice(0, most),
            troubleOf: (id) => this.troubles.get(id) ?? null,
          },
          settings: () => ({
            ...{ ...defaults, ...this.settings, limits: this.api.limits },
            live: { ...defaults.live, enabled: this.isLiveOn },
          }),
          modelInUse: () => this.api.speechModel,
          models: {
            installed: () => [this.api.speechModel, english],
            find: (id) => (id === english.id ? english : null),
            translationRefusal: (id) =>
              id === english.id ? "The model does not translate." : this.api.translationRefusal,
          },
          disk: new DiskUsage(app.dataDirectory, () => performance.now()),
          worker: () => ({ state: "ready", processIds: [process.pid], ...working, gpus: [] }),
          machines: () => this.machines,
          fleetProblem: () => this.fleetProblem,
          problem: () => this.api.trouble,
          live: this.live,
          postOptions: () => ({ allow: parseAllowList(["127.0.0.0/8"]), userAgent: "transcribe/test", now: Date.now }),
          playback: new PlaybackCopies({
            ...{ ...app, ffmpegPath, diskSpace: new DiskSpace(app.dataDirectory.root, () => 0) },
            maxSeconds: () => this.api.limits.recording_seconds,
            isBusy: () => false,
          }),
        });
        this.console = made;
        return [
          {
            owns: isConsolePath,
            routes: made.routes,
            isOn: () => true,
            handle: (request) => made.handle(request),
            toAnswer: toConsoleAnswer,
          },
        ];
      },
    });
  }

  get origin(): string {
    return this.api.origin;
  }

  /** Returns a browser that has not signed in. */
  stranger(): Browser {
    return new Browser(this.origin);
  }

  /** Returns a browser that has signed in with a link. */
  async operator(): Promise<Browser> {
    const browser = this.stranger();
    await browser.enter({ token: createLink(this.api.store, this.api.operator()).token });
    return browser;
  }

  /** Enters a completed recording with segments of one second and waits until it is searchable. @returns its id */
  async enterSaid(account: string, texts: readonly string[], sourceName = "interview"): Promise<string> {
    const { api } = this;
    const id = api.enterProcessing(api.account(account).id, { sourceName });
    api.recordings.describe(id, { durationSeconds: texts.length, language: "en" });
    api.recordings.complete(id, texts.map(said));
    await this.searched();
    return id;
  }

  /** Waits until all recordings that have ended are in the search index. */
  async searched(): Promise<void> {
    this.api.events.deliver();
    const browser = await this.operator();
    while ((await browser.read("/recordings?q=x", recordingPageSchema)).is_partial === true) await Bun.sleep(5);
  }

  [Symbol.dispose](): void {
    void this.console?.close();
    this.api[Symbol.dispose]();
  }
}

/** Returns a segment of one speaker whose words are evenly spread over its second. */
export function said(text: string, index: number): Segment {
  const words = text.split(" ").map((word, place, all) => ({
    text: ` ${word}`,
    startSeconds: index + (place / all.length) * 0.9,
    endSeconds: index + ((place + 1) / all.length) * 0.9,
    probability: word.endsWith("?") ? 0.2 : 0.9,
  }));
  return { index, startSeconds: index, endSeconds: index + 0.9, speaker: index % 2, text, words };
}

/** A browser as the console's server sees it: its cookie, and headers that tell the origin of a request. */
export class Browser {
  readonly origin: string;
  cookie = "";

  constructor(origin: string) {
    this.origin = origin;
  }

  /** Sends a request as the console's page does. `headers` are added; an empty value removes a header. */
  fetch(path: string, init: RequestInit & { readonly headers?: Record<string, string> } = {}): Promise<Response> {
    const method = init.method ?? "GET";
    const headers = new Headers({
      ...(this.cookie === "" ? {} : { Cookie: this.cookie }),
      "Sec-Fetch-Site": "same-origin",
      ...(method === "GET" ? {} : { Origin: this.origin, "X-Transcribe-Console": "1" }),
    });
    for (const [name, value] of Object.entries(init.headers ?? {})) {
      if (value === "") headers.delete(name);
      else headers.set(name, value);
    }
    return fetch(`${this.origin}/console${path}`, { redirect: "manual", ...init, headers });
  }

  data(path: string, init: Parameters<Browser["fetch"]>[1] = {}): Promise<Response> {
    return this.fetch(`/data${path}`, init);
  }

  send(method: string, path: string, body?: unknown): Promise<Response> {
    return this.data(path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  }

  /** Returns the body of a successful answer, checked by its schema. */
  async read<T extends TSchema>(path: string, schema: T): Promise<Static<T>> {
    return bodyOf(await this.data(path), 200, schema);
  }

  /** Signs in. @throws if it is refused */
  async enter(body: SignInRequest): Promise<void> {
    const answer = await this.send("POST", "/session", body);
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    this.cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  }

  /** Returns the code of an answer that must be an error with this status. */
  async refusal(answer: Response | Promise<Response>, status: number): Promise<string> {
    return (await bodyOf(await answer, status, errorSchema)).error.code;
  }
}
