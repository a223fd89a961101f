import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { sessionSchema } from "../../../src/console/contract/index.ts";
import { changeUser, findLocalUser } from "../../../src/users/index.ts";
import { type Browser, ConsoleServer } from "../../support/console.ts";
import { signedIn } from "./people.ts";

setDefaultTimeout(60_000);

interface Message {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The WebSocket of a page. */
class LivePage {
  readonly #socket: WebSocket;
  readonly #messages: Message[] = [];
  #onMessage = () => {};
  /** Code with which the server closed it; 1002 or 1006 if the request did not become a WebSocket. */
  readonly closed: Promise<number>;

  constructor(
    { origin, cookie }: Browser,
    query: Readonly<Record<string, string>>,
    headers: Record<string, string> = {},
  ) {
    const url = `${origin.replace("http", "ws")}/console/data/live?${new URLSearchParams(query)}`;
    this.#socket = new WebSocket(url, { headers: { Cookie: cookie, Origin: origin, ...headers } });
    this.#socket.onmessage = ({ data }) => {
      this.#messages.push(JSON.parse(data));
      this.#onMessage();
    };
    this.closed = new Promise((resolve) => {
      this.#socket.onclose = ({ code }) => resolve(code);
    });
  }

  /** Returns the next message. */
  async next(): Promise<Message> {
    while (this.#messages.length === 0) {
      await new Promise<void>((resolve) => {
        this.#onMessage = resolve;
      });
    }
    return this.#messages.shift() ?? { type: "none" };
  }

  send(data: object | Int16Array<ArrayBuffer>): void {
    this.#socket.send(data instanceof Int16Array ? data : JSON.stringify(data));
  }

  close(): void {
    this.#socket.close();
  }
}

/** Returns a server, and a member of its account acme. */
async function stage() {
  const server = new ConsoleServer();
  const account = server.api.account("acme");
  const member = await signedIn(server, "member@example.org", "member", ["acme"]);
  return { server, account, member, query: { account: account.id }, [Symbol.dispose]: () => server[Symbol.dispose]() };
}

const sound = new Int16Array(1600).fill(1000);

describe("the WebSocket of the console", () => {
  test("connects a member with a live session: sound, words and its end", async () => {
    using at = await stage();
    const query = { ...at.query, sample_rate: "44100", language: "de", name: "Meeting", keep: "false" };
    const page = new LivePage(at.member, query);
    expect(await page.next()).toMatchObject({ type: "session", sample_rate: 44_100, language: "de", keep: false });
    const session = at.server.live.last;
    expect(session.options).toMatchObject({ name: "Meeting", language: "de", format: { sampleRate: 44_100 } });
    expect(session.sender).toMatchObject({ kind: "application", account: { id: at.account.id }, workspaceId: null });
    page.send(sound);
    session.say("Hello.", "S1");
    expect([await page.next(), await page.next()]).toMatchObject([
      { type: "speech_started" },
      { type: "final", segment: { text: "Hello.", speaker: "S1" } },
    ]);
    expect(await page.next()).toMatchObject({ type: "turn_completed" });
    page.send({ type: "speaker", speaker: "S1", name: "Anna" });
    page.send({ type: "end" });
    expect(await page.next()).toEqual({ type: "ended", reason: "client", recording_id: null });
    expect(await page.closed).toBe(1000);
    expect([session.receivedBytes, session.peak, session.names]).toEqual([3200, 1000, { S1: "Anna" }]);
  });

  test("belongs to the chosen workspace, and to no other account's", async () => {
    using at = await stage();
    const { id } = at.server.api.workspace("acme", "board");
    const page = new LivePage(at.member, { ...at.query, workspace: id });
    await page.next();
    expect(at.server.live.last.sender.workspaceId).toBe(id);
    const other = at.server.api.workspace("other", "board");
    const refused = new LivePage(at.member, { ...at.query, workspace: other.id });
    expect(await refused.next()).toMatchObject({ type: "refused", code: "validation_failed" });
    expect([await refused.closed, at.server.live.all.length]).toEqual([1008, 1]);
  });

  test("is refused before it opens for everybody who is not signed in, whose role is too low, or who is elsewhere", async () => {
    using at = await stage();
    const reader = await signedIn(at.server, "reader@example.org", "reader", ["acme"]);
    const pages = [
      new LivePage(at.server.stranger(), at.query),
      new LivePage(reader, at.query),
      ...["https://evil.example", "http://127.0.0.1:1", "null", at.member.origin.replace("http", "https"), ""].map(
        (Origin) => new LivePage(at.member, at.query, { Origin }),
      ),
      new LivePage(at.member, at.query, { "Sec-Fetch-Site": "same-site" }),
      new LivePage(at.member, at.query, { "Sec-Fetch-Site": "cross-site" }),
    ];
    for (const page of pages) expect([1002, 1006]).toContain(await page.closed);
    expect(at.server.live.all).toEqual([]);
    new LivePage(at.member, at.query, { "Sec-Fetch-Site": "same-origin" });
    while (at.server.live.all.length === 0) await Bun.sleep(5);
  });

  test.each<[string, (at: Awaited<ReturnType<typeof stage>>) => Record<string, string>, string, RegExp]>([
    [
      "another account",
      (at) => ({ account: at.server.api.account("other").id }),
      "validation_failed",
      /no such account/,
    ],
    ["a prompt that is too long", (at) => ({ ...at.query, prompt: "x".repeat(5000) }), "validation_failed", /./],
    [
      "a server whose places are taken",
      (at) => {
        at.server.live.refusal = { kind: "full", sessions: 2 };
        return at.query;
      },
      "service_unavailable",
      /2 live sessions/,
    ],
    [
      "used up audio minutes",
      (at) => {
        at.server.live.refusal = { kind: "audio_used_up" };
        return at.query;
      },
      "rate_limited",
      /no audio allowance left today/,
    ],
    ["an unknown session", (at) => ({ ...at.query, resume: Bun.randomUUIDv7() }), "not_found", /./],
  ])("tells the page why there is no session, which browsers don't: %s", async (_, prepare, code, message) => {
    using at = await stage();
    const page = new LivePage(at.member, prepare(at));
    expect(await page.next()).toEqual({ type: "refused", code, message: expect.stringMatching(message) });
    expect(await page.closed).toBe(1008);
  });

  test("continues a session for the same person alone, and closes the connection that the session had", async () => {
    using at = await stage();
    const first = new LivePage(at.member, at.query);
    const { id } = await first.next();
    first.send(sound);
    const session = at.server.live.last;
    while (session.receivedBytes === 0) await Bun.sleep(5);
    session.say("Hello.");
    const resume = { ...at.query, resume: String(id) };
    const stranger = await signedIn(at.server, "second@example.org", "member", ["acme"]);
    expect(await new LivePage(stranger, resume).next()).toMatchObject({ type: "refused", code: "not_found" });
    const second = new LivePage(at.member, resume);
    expect(await second.next()).toMatchObject({
      type: "session",
      id,
      received_seconds: 0.1,
      segments: [{ number: 0 }],
    });
    expect(await first.closed).toBe(1008);
    expect(session.isAttached).toBe(true);
    second.close();
    await second.closed;
    while (session.isAttached) await Bun.sleep(5);
    expect(session.isOver).toBe(false);
  });

  test.each<[string, (at: Awaited<ReturnType<typeof stage>>) => unknown]>([
    ["signs out", (at) => at.member.data("/session", { method: "DELETE" })],
    [
      "becomes a reader",
      (at) => {
        const user = findLocalUser(at.server.api.store, "member@example.org")?.user;
        if (user === undefined) throw new Error("there is no such user");
        changeUser(at.server.api.store, user, { role: "reader" }, at.server.api.operator());
      },
    ],
    ["loses the account", (at) => at.server.api.removeAccount(at.account)],
  ])("ends with its session when the person %s", async (_, lose) => {
    using at = await stage();
    const page = new LivePage(at.member, at.query);
    await page.next();
    await lose(at);
    expect(await page.next()).toMatchObject({ type: "ended" });
    expect(await page.closed).not.toBe(1006);
    expect(at.server.live.last.isOver).toBe(true);
  });

  test("is closed with the console, and its session can be continued", async () => {
    using at = await stage();
    const page = new LivePage(at.member, at.query);
    await page.next();
    await at.server.console?.close();
    expect(await page.closed).toBe(1001);
    const session = at.server.live.last;
    expect([session.isAttached, session.isOver]).toEqual([false, false]);
  });

  test("is offered by the page only if the settings allow live sessions", async () => {
    using at = await stage();
    expect(await at.member.read("/session", sessionSchema)).toMatchObject({ live: true });
    at.server.isLiveOn = false;
    expect(await at.member.read("/session", sessionSchema)).toMatchObject({ live: false });
  });
});
