import { expect } from "bun:test";
import { type Static, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { CommandResult } from "../../harness/processes.ts";
import { runHere } from "./run-here.ts";

const strict = { additionalProperties: false };
const instant = Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" });

/** Returns the schema of an object with these properties and no others. */
export const shape = <T extends TProperties>(properties: T) => Type.Object(properties, strict);
/** Returns the schema of a value that may be null. */
export const maybe = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const id = Type.String({ pattern: "^[0-9a-f-]{36}$" });

/** Schemas of the output of commands with --json. */
export const shapes = {
  account: shape({
    id,
    name: Type.String(),
    standing: Type.String(),
    subscribed_until: maybe(instant),
    priority: Type.Integer(),
    limits: Type.Record(Type.String(), Type.Integer()),
    retention: shape({ audio_days: maybe(Type.Integer()), completed_days: maybe(Type.Integer()) }),
    vocabulary: maybe(Type.String()),
    voices: Type.Boolean(),
    created_at: instant,
  }),
  workspace: shape({ id, name: Type.String(), account_id: id, created_at: instant }),
  key: shape({
    id,
    account_id: id,
    workspace_id: maybe(id),
    name: Type.String(),
    hint: Type.String({ pattern: "^trs_.{6}$" }),
    scopes: Type.Array(Type.String()),
    created_at: instant,
    last_used_at: maybe(instant),
    expires_at: maybe(instant),
    revoked_at: maybe(instant),
  }),
  recording: shape({
    id,
    account_id: id,
    workspace_id: maybe(id),
    status: Type.String(),
    step: maybe(Type.String()),
    percent: maybe(Type.Integer()),
    language: maybe(Type.String()),
    model: maybe(Type.String()),
    model_sha256: maybe(Type.String()),
    duration_seconds: maybe(Type.Number()),
    audio_track: maybe(Type.Integer()),
    audio_tracks: maybe(Type.Integer()),
    size_bytes: maybe(Type.Integer()),
    failure_reason: maybe(Type.String()),
    failure_cause: maybe(Type.String()),
    revision: Type.Integer(),
    held_since: maybe(instant),
    created_at: instant,
    updated_at: instant,
  }),
  auditEntry: shape({
    at: instant,
    actor: Type.String({ minLength: 1 }),
    name: Type.String({ minLength: 1 }),
    action: Type.String(),
    subject: id,
    details: Type.Object({}),
  }),
};
const secret = Type.String({ pattern: "^trs_[0-9A-Za-z]{49}$" });
export const newKeyShape = Type.Composite([shapes.key, Type.Object({ key: secret })], strict);
export const rotatedKeyShape = Type.Composite([newKeyShape, Type.Object({ replaces: shapes.key })], strict);

/** The commands on one data directory. */
export class Commands {
  readonly #dataDirectory: string;
  readonly #runLine: typeof runHere;

  /** @param runLine how commands run; `runCli`: each in a process of its own */
  constructor(dataDirectory: string, runLine: typeof runHere = runHere) {
    this.#dataDirectory = dataDirectory;
    this.#runLine = runLine;
  }

  run(...args: readonly string[]): Promise<CommandResult> {
    return this.#runLine([...args, "--data-dir", this.#dataDirectory]);
  }

  /** Runs a command with this text on standard input. */
  runWith(input: string, args: readonly string[], environment: Record<string, string> = {}): Promise<CommandResult> {
    return this.#runLine([...args, "--data-dir", this.#dataDirectory], environment, Buffer.from(input));
  }

  /** Runs a command that must succeed, and returns its JSON output. */
  async json<T extends TSchema>(shape: T, ...args: readonly string[]): Promise<Static<T>> {
    const { exitCode, stdout, stderr } = await this.run(...args, "--json");
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining("transcribe:")]);
    const printed: unknown = JSON.parse(stdout);
    const [fault] = Value.Errors(shape, printed);
    if (fault !== undefined) throw new Error(`${fault.path}: ${fault.message}, in ${stdout}`);
    return printed;
  }

  /** Runs a command that must fail with exit code 1 and a message without a stack. @returns the message */
  refusal(...args: readonly string[]): Promise<string> {
    return this.#message(1, /^transcribe: .+\n$/, args);
  }

  /** Runs a wrong command line, which must fail with exit code 2 and a message without a stack. @returns the message */
  usageError(...args: readonly string[]): Promise<string> {
    return this.#message(2, /^transcribe: .+\n(\(.+\)\n)*$/, args);
  }

  async #message(expectedCode: number, shape: RegExp, args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(...args);
    expect([exitCode, stdout]).toEqual([expectedCode, ""]);
    expect(stderr).toMatch(shape);
    expect(stderr).not.toMatch(/\n\s+at |Error|SQL/);
    return stderr;
  }
}
