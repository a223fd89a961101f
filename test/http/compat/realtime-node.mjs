// Transcribes live sound with OpenAI's SDK for Node, over both of its WebSockets. Reads a question as JSON from standard
// input, and writes the outcomes by name as JSON to standard output.
import { readFileSync } from "node:fs";
import OpenAI from "openai";
import { OpenAIRealtimeWebSocket } from "openai/realtime/websocket";
import { OpenAIRealtimeWS } from "openai/realtime/ws";

const { https_url, key, turn_bytes } = JSON.parse(readFileSync(0, "utf8"));
const client = new OpenAI({ baseURL: https_url, apiKey: key, maxRetries: 0 });

/** Sends a turn of sound in events of 100 ms. */
function speak(realtime, bytes) {
  for (let sent = 0; sent < bytes; sent += 4800) {
    const audio = Buffer.alloc(Math.min(4800, bytes - sent)).toString("base64");
    realtime.send({ type: "input_audio_buffer.append", audio });
  }
}

/** Settings for turns that the client ends itself. */
const manual = {
  type: "session.update",
  session: {
    type: "transcription",
    audio: {
      input: {
        format: { type: "audio/pcm", rate: 24000 },
        transcription: { model: "gpt-4o-transcribe", language: "en" },
        turn_detection: null,
      },
    },
    include: ["item.input_audio_transcription.logprobs"],
  },
};

/** Collects the events of a session until its first transcript, and what the test needs of them. */
function collect(realtime, steer) {
  return new Promise((resolve) => {
    const types = [];
    const result = { types, deltas: "" };
    realtime.on("event", (event) => {
      types.push(event.type);
      steer?.(event);
    });
    realtime.on("conversation.item.input_audio_transcription.delta", ({ delta }) => {
      result.deltas += delta;
    });
    realtime.on("conversation.item.input_audio_transcription.completed", (event) => {
      realtime.close();
      const { item_id, transcript, usage, logprobs } = event;
      resolve({ ...result, item_id, transcript, usage, logprobs: logprobs?.length ?? null });
    });
    realtime.on("error", (error) => resolve({ error: error.message, ...(error.error ?? {}) }));
  });
}

const outcomes = {};

{
  const realtime = new OpenAIRealtimeWS({ intent: "transcription" }, client);
  outcomes.manual = await collect(realtime, ({ type }) => {
    if (type === "session.created") realtime.send(manual);
    if (type !== "session.updated") return;
    speak(realtime, 9600);
    realtime.send({ type: "input_audio_buffer.commit" });
  });
}

{
  const realtime = new OpenAIRealtimeWS({ intent: "transcription" }, client);
  outcomes.detected = await collect(realtime, ({ type }) => {
    if (type === "session.created") speak(realtime, turn_bytes);
  });
}

{
  const realtime = new OpenAIRealtimeWebSocket({ intent: "transcription" }, client);
  outcomes.native = await collect(realtime, ({ type }) => {
    if (type === "session.created") speak(realtime, turn_bytes);
  });
}

{
  const secret = await client.realtime.clientSecrets.create({
    session: manual.session,
    expires_after: { anchor: "created_at", seconds: 60 },
  });
  outcomes.secret = { type: secret.session.type, prefix: secret.value.slice(0, 3) };
  const browser = new OpenAI({ baseURL: https_url, apiKey: secret.value });
  const realtime = new OpenAIRealtimeWebSocket({ intent: "transcription" }, browser);
  outcomes.ephemeral = await collect(realtime, ({ type, session }) => {
    if (type !== "session.created") return;
    outcomes.secret.turns = session.audio.input.turn_detection;
    speak(realtime, 9600);
    realtime.send({ type: "input_audio_buffer.commit" });
  });
  const again = new OpenAIRealtimeWS({ intent: "transcription" }, browser);
  outcomes.again = await collect(again);
}

{
  const older = await client.beta.realtime.transcriptionSessions.create({ input_audio_format: "g711_ulaw" });
  outcomes.older = { format: older.input_audio_format, prefix: older.client_secret.value.slice(0, 3) };
}

{
  const realtime = new OpenAIRealtimeWS({ intent: "transcription" }, client);
  outcomes.response = await collect(realtime, ({ type }) => {
    if (type === "session.created") realtime.send({ type: "response.create", event_id: "mine" });
  });
  realtime.close();
}

{
  const realtime = new OpenAIRealtimeWS({ intent: "transcription" }, client);
  outcomes.empty = await collect(realtime, ({ type }) => {
    if (type === "session.created") realtime.send({ type: "input_audio_buffer.commit", event_id: "mine" });
  });
  realtime.close();
}

{
  const stranger = new OpenAI({ baseURL: https_url, apiKey: "wrong" });
  outcomes.wrong_key = await collect(new OpenAIRealtimeWS({ intent: "transcription" }, stranger));
}

process.stdout.write(JSON.stringify(outcomes));
process.exit();
