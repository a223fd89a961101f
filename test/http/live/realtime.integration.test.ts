import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { LiveError, type LiveEvent } from "../../../src/live/index.ts";
import { ApiServer } from "../../support/http.ts";
import { liveSegment } from "../../support/live.ts";
import { TestSocket } from "../../support/test-socket.ts";
import { upgrade } from "./upgrade.ts";

const server = new ApiServer();
afterAll(() => server[Symbol.dispose]());
afterEach(() => {
  server.live.refusal = null;
});
const client = server.client("first");
const address = `ws://127.0.0.1:${server.port}/v1/realtime?intent=transcription`;
const authorization = `Bearer ${client.key}`;
const open = (headers: Record<string, string> = {}) =>
  TestSocket.open(address, { headers: { authorization, ...headers } });

const serverVad = { type: "server_vad", threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 };
const idOf = (id: string) => `sess_${id.replaceAll("-", "")}`;
const sessionId = () => idOf(server.live.last.id);
const base64 = (...bytes: number[]) => Buffer.from(bytes).toString("base64");
/** Updates the input of a session in the current form. */
const update = (input: object, more: object = {}) => ({
  type: "session.update",
  session: { type: "transcription", audio: { input }, ...more },
});

describe("a transcription session of the Realtime API", () => {
  test("begins with its defaults, which its client may use at once", async () => {
    using socket = await open();
    expect(await socket.next("session.created")).toEqual({
      ...{ type: "session.created", event_id: expect.any(String) },
      session: {
        ...{ id: sessionId(), object: "realtime.transcription_session", type: "transcription", include: [] },
        audio: {
          input: {
            format: { type: "audio/pcm", rate: 24_000 },
            transcription: { model: "whisper-1", prompt: "" },
            noise_reduction: null,
            turn_detection: serverVad,
          },
        },
      },
    });
    expect(server.live.last.options).toEqual({
      format: { encoding: "pcm16", sampleRate: 24_000 },
      ...{ language: null, prompt: null, keep: false, name: null },
      turns: { threshold: 0.5, paddingSeconds: 0.3, silenceSeconds: 0.5 },
    });
    socket.send({ type: "input_audio_buffer.append", audio: base64(1, 2, 3) });
    socket.send({ type: "input_audio_buffer.append", audio: base64(4) });
    socket.send({ type: "input_audio_buffer.commit" });
    socket.send({ type: "input_audio_buffer.clear" });
    const session = server.live.last;
    await session.called("clear");
    expect(session.calls).toEqual([
      { call: "write", sound: Uint8Array.of(1, 2) },
      { call: "write", sound: Uint8Array.of(3, 4) },
      { call: "commit" },
      { call: "clear" },
    ]);
  });

  test("is at each path of OpenAI's and Azure's clients, with the key where they send it", async () => {
    const places: [string, Record<string, string>][] = [
      ["/v1/realtime?intent=transcription", { authorization }],
      ["/realtime?model=gpt-4o-transcribe", { authorization }],
      ["/openai/v1/realtime", { "api-key": client.key }],
      ["/v1/realtime", { "sec-websocket-protocol": `realtime, openai-insecure-api-key.${client.key}` }],
    ];
    for (const [path, headers] of places) expect((await upgrade(server, path, headers)).status).toBe(101);
    expect((await upgrade(server, "/v1/realtime", { "api-key": client.key })).status).toBe(401);
    expect((await upgrade(server, "/openai/v1/realtime", { "api-key": "wrong" })).status).toBe(401);
  });

  test("chooses the subprotocol realtime of a browser", async () => {
    const protocols = ["realtime", `openai-insecure-api-key.${client.key}`, "openai-beta.realtime-v1"];
    using socket = await TestSocket.open(address, { protocols });
    expect(socket.protocol).toBe("realtime");
    await socket.next("transcription_session.created");
  });

  test("is kept as a recording if the settings say so", async () => {
    server.compat = { ...server.compat, keep: true };
    using _ = await open();
    server.compat = { ...server.compat, keep: false };
    expect(server.live.last.options.keep).toBe(true);
  });

  test("has its paths only while the settings offer OpenAI's API", async () => {
    server.compat = { ...server.compat, openai: false };
    const { status, body } = await upgrade(server, "/v1/realtime", { authorization });
    server.compat = { ...server.compat, openai: true };
    expect([status, body]).toMatchObject([404, { error: "not_found" }]);
  });

  test("ends when its client disconnects, since none resumes it", async () => {
    const socket = await open();
    const session = server.live.last;
    await socket.close();
    await session.called("leave");
    expect(session.calls).toEqual([{ call: "leave" }]);
  });

  test("takes no harm from what arrives while it ends by itself", async () => {
    using socket = await open();
    const session = server.live.last;
    const ending = () => {
      throw new LiveError({ kind: "unknown_session" });
    };
    session.onCall = ending;
    for (const type of ["input_audio_buffer.append", "input_audio_buffer.commit"]) socket.send({ type, audio: "AAA=" });
    socket.send({ type: "response.create" });
    expect((await socket.next("error")).error).toMatchObject({ code: "unsupported_event" });
    session.finish("idle");
    expect((await socket.closed)[0]).toBe(1008);
    expect(socket.messages.map(({ type }) => type)).toEqual(["session.created", "error", "error"]);
  });

  const created: [string, object, object, object][] = [
    [
      "the format and the language",
      update({
        format: { type: "audio/pcm", rate: 16_000 },
        transcription: { model: "gpt-4o-transcribe", language: "de-AT" },
      }),
      { format: { type: "audio/pcm", rate: 16_000 }, transcription: { model: "gpt-4o-transcribe", language: "de-AT" } },
      { format: { encoding: "pcm16", sampleRate: 16_000 }, language: "de" },
    ],
    [
      "G.711",
      update({ format: { type: "audio/pcmu" } }),
      { format: { type: "audio/pcmu" } },
      { format: { encoding: "mulaw", sampleRate: 8000 } },
    ],
    [
      "G.711 with A-law",
      update({ format: { type: "audio/pcma", rate: 8000 } }),
      { format: { type: "audio/pcma" } },
      { format: { encoding: "alaw", sampleRate: 8000 } },
    ],
    [
      "the prompt and keywords",
      update({ transcription: { prompt: "Zau", keywords: ["Helstone", "Leverrier"], languages: ["en", "de"] } }),
      { transcription: { prompt: "Zau", keywords: ["Helstone", "Leverrier"], languages: ["en", "de"] } },
      { prompt: "Zau, Helstone, Leverrier", language: null },
    ],
    ["no turn detection", update({ turn_detection: null }), { turn_detection: null }, { turns: null }],
    [
      "turn detection with bounds",
      update({
        turn_detection: { type: "server_vad", threshold: 0.8, silence_duration_ms: 20, create_response: false },
      }),
      { turn_detection: { ...serverVad, threshold: 0.8, silence_duration_ms: 100 } },
      { turns: { threshold: 0.8, paddingSeconds: 0.3, silenceSeconds: 0.1 } },
    ],
    [
      "turn detection by meaning",
      update({ turn_detection: { type: "semantic_vad", eagerness: "low" } }),
      { turn_detection: { ...serverVad, type: "semantic_vad", silence_duration_ms: 1000 } },
      { turns: { threshold: 0.5, paddingSeconds: 0.3, silenceSeconds: 1 } },
    ],
    [
      "a model whose clients end turns themselves",
      update({ transcription: { model: "gpt-realtime-whisper", delay: "low" } }),
      { transcription: { model: "gpt-realtime-whisper" }, turn_detection: null },
      { turns: null },
    ],
    [
      "such a model with turn detection",
      update({ transcription: { model: "gpt-live-transcribe" }, turn_detection: { type: "server_vad" } }),
      { turn_detection: serverVad },
      { turns: { threshold: 0.5, paddingSeconds: 0.3, silenceSeconds: 0.5 } },
    ],
    [
      "noise reduction, which has no effect",
      update({ noise_reduction: { type: "near_field", strength: 1 } }),
      { noise_reduction: { type: "near_field", strength: 1 } },
      {},
    ],
  ];
  test.each(created)("is changed by a client that sends %s", async (_, message, input, options) => {
    using socket = await open();
    socket.send(message);
    const { session } = await socket.next("session.updated");
    expect(session).toMatchObject({ id: sessionId(), type: "transcription", audio: { input } });
    expect(server.live.last.options).toMatchObject(options);
  });

  test("keeps what an update leaves out, and takes a language back", async () => {
    using socket = await open();
    socket.send(update({ transcription: { language: "de", prompt: "Zau" }, turn_detection: null }));
    socket.send(update({ transcription: { model: "whisper-base" } }, { include: [] }));
    await socket.next("session.updated");
    await socket.next("session.updated");
    expect(server.live.last.options).toMatchObject({ language: "de", prompt: "Zau", turns: null });
    socket.send(update({ transcription: { language: null } }));
    await socket.next("session.updated");
    expect(server.live.last.options).toMatchObject({ language: null, prompt: "Zau", turns: null });
    socket.send(update({ transcription: null }));
    await socket.next("session.updated");
    expect(server.live.last.options).toMatchObject({ language: null, prompt: null, turns: null });
  });

  test("speaks the older form with a client that does", async () => {
    using socket = await open({ "OpenAI-Beta": "realtime=v1" });
    const older = {
      ...{ id: sessionId(), object: "realtime.transcription_session", modalities: ["audio", "text"], include: [] },
      ...{ input_audio_format: "pcm16", input_audio_transcription: { model: "whisper-1", prompt: "" } },
      ...{ input_audio_noise_reduction: null, turn_detection: serverVad },
    };
    expect(await socket.next("transcription_session.created")).toMatchObject({ session: older });
    socket.send({
      type: "transcription_session.update",
      session: {
        input_audio_format: "g711_ulaw",
        input_audio_transcription: { model: "gpt-4o-mini-transcribe", language: "en", prompt: "" },
        turn_detection: { ...serverVad, silence_duration_ms: 700 },
        input_audio_noise_reduction: { type: "far_field" },
      },
    });
    expect(await socket.next("transcription_session.updated")).toMatchObject({
      session: {
        ...{ ...older, input_audio_format: "g711_ulaw", input_audio_noise_reduction: { type: "far_field" } },
        input_audio_transcription: { model: "gpt-4o-mini-transcribe", language: "en", prompt: "" },
        turn_detection: { ...serverVad, silence_duration_ms: 700 },
      },
    });
    expect(server.live.last.options).toMatchObject({
      ...{ format: { encoding: "mulaw", sampleRate: 8000 }, language: "en" },
      turns: { threshold: 0.5, paddingSeconds: 0.3, silenceSeconds: 0.7 },
    });
    server.live.last.emit({ type: "committed", turn: "t1", previous: null });
    expect(await socket.next("conversation.item.created")).toMatchObject({ item: { id: "item_t1" } });
  });

  test("speaks the older form after an older update, without a header", async () => {
    using socket = await open();
    socket.send({ type: "transcription_session.update", session: { input_audio_format: "g711_alaw" } });
    await socket.next("transcription_session.updated");
    expect(socket.messages.map(({ type }) => type)).toEqual(["session.created", "transcription_session.updated"]);
  });
});

const segment = liveSegment;
/** A turn of two segments, as a session reports it. */
const turn: LiveEvent[] = [
  { type: "speechStarted", turn: "t2", seconds: 1.5 },
  { type: "partial", turn: "t2", text: "Good", words: [] },
  { type: "final", turn: "t2", segment: segment(1, "Good day.") },
  { type: "speechStopped", turn: "t2", seconds: 4.25 },
  { type: "committed", turn: "t2", previous: "t1" },
  { type: "final", turn: "t2", segment: segment(2, "Hello, Anna!", "S2") },
  { type: "speakers", speakers: [{ segment: 1, speaker: "S1" }] },
  { type: "turnCompleted", turn: "t2", text: "Good day. Hello, Anna!", seconds: 2.75, language: "en" },
];

describe("a turn", () => {
  const item = {
    ...{ id: "item_t2", object: "realtime.item", type: "message", status: "completed", role: "user" },
    content: [{ type: "input_audio", transcript: null }],
  };
  const transcription = "conversation.item.input_audio_transcription";
  const of = (type: string, fields: object) => ({ type, event_id: expect.any(String), item_id: "item_t2", ...fields });
  const all = [
    of("input_audio_buffer.speech_started", { audio_start_ms: 1500 }),
    of(`${transcription}.delta`, { content_index: 0, delta: "Good day." }),
    of("input_audio_buffer.speech_stopped", { audio_end_ms: 4250 }),
    of("input_audio_buffer.committed", { previous_item_id: "item_t1" }),
    { type: "conversation.item.added", event_id: expect.any(String), previous_item_id: "item_t1", item },
    { type: "conversation.item.done", event_id: expect.any(String), previous_item_id: "item_t1", item },
    of(`${transcription}.delta`, { content_index: 0, delta: " Hello, Anna!" }),
    of(`${transcription}.completed`, {
      ...{ content_index: 0, transcript: "Good day. Hello, Anna!" },
      usage: { type: "duration", seconds: 2.75 },
    }),
  ];

  test("is an item whose text only grows, to the whole transcript", async () => {
    using socket = await open();
    for (const event of turn) server.live.last.emit(event);
    await socket.next(`${transcription}.completed`);
    expect(socket.messages.slice(1)).toEqual(all.map((each) => Object(each)));
    const ids = socket.messages.map(({ event_id }) => event_id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("has the log probabilities of its words on request, and its language for the model that names it", async () => {
    using socket = await open();
    const include = ["item.input_audio_transcription.logprobs"];
    socket.send(update({ transcription: { model: "gpt-live-transcribe" } }, { include }));
    expect(await socket.next("session.updated")).toMatchObject({ session: { include } });
    for (const event of turn) server.live.last.emit(event);
    const tokens = (...texts: string[]) =>
      texts.map((token) => ({
        token,
        logprob: Math.round(Math.log(0.5) * 10_000) / 10_000,
        bytes: [...Buffer.from(token)],
      }));
    expect(await socket.next(`${transcription}.delta`)).toMatchObject({ logprobs: tokens(" Good", " day.") });
    const completed = await socket.next(`${transcription}.completed`);
    expect(completed.logprobs).toEqual(tokens(" Good", " day.", " Hello,", " Anna!"));
    expect(completed.languages).toEqual([{ code: "en" }]);
    server.live.last.emit({ type: "turnCompleted", turn: "t3", text: "", seconds: 1, language: null });
    const silent = await socket.next(`${transcription}.completed`);
    expect([silent.transcript, silent.languages]).toEqual(["", []]);
  });

  test("has segments with their speakers for the model that distinguishes them", async () => {
    using socket = await open();
    socket.send(update({ transcription: { model: "gpt-4o-transcribe-diarize" } }));
    await socket.next("session.updated");
    for (const event of turn) server.live.last.emit(event);
    await socket.next(`${transcription}.completed`);
    expect(socket.messages.filter(({ type }) => type.endsWith(".segment"))).toEqual(
      [
        { id: "seg_2", text: "Hello, Anna!", speaker: "B", start: 2, end: 2.9 },
        { id: "seg_1", text: "Good day.", speaker: "A", start: 1, end: 1.9 },
      ].map((fields) => of(`${transcription}.segment`, { content_index: 0, ...fields })),
    );
  });

  test("whose text ends with words that no event had sends them last", async () => {
    using socket = await open();
    server.live.last.emit({ type: "final", turn: "t2", segment: segment(1, "Good day.") });
    server.live.last.emit({ type: "turnCompleted", turn: "t2", text: "Good day. Bye.", seconds: 1, language: "en" });
    const { transcript } = await socket.next(`${transcription}.completed`);
    const deltas = socket.messages.filter(({ type }) => type.endsWith(".delta")).map(({ delta }) => delta);
    expect([transcript, deltas]).toEqual(["Good day. Bye.", ["Good day.", " Bye."]]);
  });

  test("whose whole text differs from its parts is completed with its parts", async () => {
    using socket = await open();
    server.live.last.emit({ type: "final", turn: "t2", segment: segment(1, "Good day.") });
    server.live.last.emit({ type: "turnCompleted", turn: "t2", text: "Hello.", seconds: 1, language: "en" });
    expect((await socket.next(`${transcription}.completed`)).transcript).toBe("Good day.");
  });

  test("that fails is reported, and the session goes on", async () => {
    using socket = await open();
    server.live.last.emit({ type: "turnFailed", turn: "t2" });
    server.live.last.emit({ type: "cleared" });
    expect(await socket.next(`${transcription}.failed`)).toMatchObject({
      ...{ item_id: "item_t2", content_index: 0 },
      error: { type: "server_error", code: "transcription_failed", message: expect.any(String) },
    });
    await socket.next("input_audio_buffer.cleared");
  });
});

describe("an event that is refused", () => {
  const event_id = "mine-7";
  const invalid = (param: string | null, code = "invalid_value") => ({ type: "invalid_request_error", code, param });
  const append = (audio: string) => ({ type: "input_audio_buffer.append", event_id, audio });
  test.each([
    ["no JSON", "{", { ...invalid(null, "invalid_json"), event_id: null }],
    ["no object", "[1]", { ...invalid(null, "invalid_json"), event_id: null }],
    ["an unknown type", { type: "input_audio_buffer.rewind", event_id }, invalid("type")],
    ["a type that is no text", { type: 5, event_id }, invalid("type")],
    ["a response", { type: "response.create", event_id }, invalid("type", "unsupported_event")],
    ["an item", { type: "conversation.item.create", event_id, item: {} }, invalid("type", "unsupported_event")],
    ["sound that is not base64", append("Grüße"), invalid("audio")],
    ["sound with spaces", append("AA AA"), invalid("audio")],
    ["sound that is no text", { ...append(""), audio: [1] }, invalid("audio")],
    [
      "a session for conversations",
      { type: "session.update", event_id, session: { type: "realtime" } },
      { ...invalid("session.type", String(null)), code: null },
    ],
    ["a rate", { ...update({ format: { rate: 96_000 } }), event_id }, invalid("session.audio.input.format.rate")],
    [
      "a format",
      { type: "transcription_session.update", event_id, session: { input_audio_format: "mp3" } },
      invalid("session.input_audio_format"),
    ],
    [
      "a model",
      { ...update({ transcription: { model: "nova-3" } }), event_id },
      invalid("session.audio.input.transcription.model", "model_not_found"),
    ],
    [
      "a language",
      { ...update({ transcription: { language: "tlh" } }), event_id },
      { ...invalid("session.audio.input.transcription.language"), code: null },
    ],
    [
      "a threshold",
      { ...update({ turn_detection: { threshold: 2 } }), event_id },
      invalid("session.audio.input.turn_detection.threshold"),
    ],
  ])("for %s is answered with its id, and the session goes on", async (_, message, error) => {
    using socket = await open();
    socket.send(message);
    const answer = await socket.next("error");
    expect(answer.error).toMatchObject({ event_id, message: expect.any(String), ...error });
    socket.send({ type: "input_audio_buffer.commit" });
    await server.live.last.called("commit");
    expect(server.live.last.calls).toEqual([{ call: "commit" }]);
  });

  test("because the buffer is empty has the code that clients know", async () => {
    using socket = await open();
    server.live.last.onCall = () => {
      throw new LiveError({ kind: "empty_turn" });
    };
    socket.send({ type: "input_audio_buffer.commit", event_id });
    expect((await socket.next("error")).error).toMatchObject({ code: "input_audio_buffer_commit_empty", event_id });
  });

  test("because the format changes after the first sound names it, and the format stays", async () => {
    using socket = await open();
    const session = server.live.last;
    session.onCall = ({ call }) => {
      if (call === "update")
        throw new LiveError({ kind: "bad_option", option: "format", reason: "It can't change now." });
    };
    socket.send({ ...update({ format: { type: "audio/pcmu" } }), event_id });
    expect((await socket.next("error")).error).toMatchObject({ param: "session.format", event_id });
    session.onCall = () => {};
    socket.send(update({}));
    expect(await socket.next("session.updated")).toMatchObject({
      session: { audio: { input: { format: { type: "audio/pcm", rate: 24_000 } } } },
    });
    expect(session.calls.at(-1)).not.toHaveProperty("options.format");
  });

  test("because the sound comes too fast ends the connection", async () => {
    using socket = await open();
    server.live.last.onCall = ({ call }) => {
      if (call === "write") throw new LiveError({ kind: "too_fast" });
    };
    socket.send({ type: "input_audio_buffer.append", audio: base64(0, 0) });
    expect((await socket.next("error")).error).toMatchObject({ code: "rate_limit_exceeded" });
    expect((await socket.closed)[0]).toBe(1008);
  });

  test("as a binary frame ends the connection with 1003", async () => {
    using socket = await open();
    socket.send(new Uint8Array(640));
    expect((await socket.closed)[0]).toBe(1003);
  });

  test("again and again ends the connection with 1008, unless it belongs to a conversation", async () => {
    using talking = await open();
    for (let count = 0; count < 50; count++) talking.send({ type: "response.create", event_id: `r${count}` });
    while ((await talking.next("error")).error instanceof Object && talking.messages.length < 51);
    using socket = await open();
    for (let count = 0; count < 50; count++) socket.send("{");
    expect(await socket.closed).toEqual([1008, "Too many messages are not valid."]);
  });
});

describe("sound of many megabytes in one event", () => {
  const sound = Buffer.alloc(4 * 1024 * 1024, 255);
  const audio = sound.toString("base64");
  test.each([
    ["as programs write it", `{"type":"input_audio_buffer.append","audio":"${audio}"}`],
    [
      "with spaces, and an id behind it",
      `{"audio" : "${audio}", "event_id": "e1", "type": "input_audio_buffer.append"}`,
    ],
    ["with escaped slashes", `{"type":"input_audio_buffer.append","audio":"${audio.replaceAll("/", "\\/")}"}`],
  ])("%s is taken", async (_, message) => {
    using socket = await open();
    socket.send(message);
    await server.live.last.called("write");
    expect(server.live.last.sound.equals(sound)).toBe(true);
  });

  test.each([
    ["under another type", `{"type":"session.update","session":{},"audio":"${audio}"}`],
    ["that does not end", `{"type":"input_audio_buffer.append","audio":"${audio}`],
    [
      "behind other long values",
      `{"event_id":"${"a".repeat(5000)}","type":"input_audio_buffer.append","audio":"${audio}"}`,
    ],
    [
      "among other long values",
      `{"type":"input_audio_buffer.append","audio":"${audio}","more":[${"[],".repeat(50_000)}0]}`,
    ],
    ["of many small values", `[${"[],".repeat(1_000_000)}0]`],
    ["of deep values", "[".repeat(4_000_000)],
  ])("or a long event %s is refused, and the session goes on", async (_, message) => {
    using socket = await open();
    socket.send(message);
    expect((await socket.next("error")).error).toMatchObject({ code: "invalid_json" });
    socket.send({ type: "input_audio_buffer.commit" });
    await server.live.last.called("commit");
  });
});

describe("the end of a session", () => {
  test.each([
    ["idle", 1008, "session_expired"],
    ["too_long", 1008, "session_expired"],
    ["audio_used_up", 1008, "insufficient_quota"],
    ["access", 1008, "invalid_api_key"],
    ["disk_full", 1011, "server_error"],
    ["engine", 1011, "server_error"],
    ["stopping", 1001, "server_error"],
  ] as const)("as %s is closed with %d after the error %s", async (reason, code, expected) => {
    using socket = await open();
    server.live.last.finish(reason);
    expect((await socket.closed)[0]).toBe(code);
    expect(socket.messages.at(-1)).toMatchObject({ type: "error", error: { code: expected, event_id: null } });
  });
});

describe("a refusal before the session", () => {
  test.each([
    ["a wrong key", { authorization: "Bearer wrong" }, 401, "invalid_api_key", null],
    ["no key", { authorization: null }, 401, "invalid_api_key", null],
    ["no WebSocket", { authorization, upgrade: "h2c" }, 426, null, null],
  ])("for %s has OpenAI's form", async (_, headers, status, code, param) => {
    const answer = await upgrade(server, "/v1/realtime", headers);
    expect([answer.status, answer.body]).toMatchObject([
      status,
      { error: { code, param, message: expect.any(String) } },
    ]);
  });

  test("because all places are taken is 503 with Retry-After", async () => {
    server.live.refusal = { kind: "full", sessions: 2 };
    const { status, headers, body } = await upgrade(server, "/v1/realtime", { authorization });
    expect([status, headers.get("retry-after")]).toEqual([503, "30"]);
    expect(body).toMatchObject({ error: { type: "server_error", code: "service_unavailable" } });
  });
});
