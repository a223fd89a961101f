import { describe, expect, test } from "bun:test";
import { loadSettings, settingWarnings } from "../../src/config/index.ts";

const warningsOf = (environment: Record<string, string>) =>
  settingWarnings(loadSettings({ file: undefined, environment, flags: {} })).map(
    ({ setting, message }) => `${setting}: ${message}`,
  );

describe("settings that have no effect together are named", () => {
  test.each([
    [
      "fetch.allow: this has no effect while fetch.enabled is false",
      { TRANSCRIBE_FETCH_ENABLED: "false", TRANSCRIBE_FETCH_ALLOW: "a.example" },
    ],
    [
      "fetch.stall_seconds: this has no effect: fetch.timeout_seconds ends a link after 20s already",
      { TRANSCRIBE_FETCH_TIMEOUT_SECONDS: "20s" },
    ],
    [
      "limits.creates_per_hour: this has no effect: limits.creates_per_day allows 10 in a day",
      { TRANSCRIBE_LIMITS_CREATES_PER_DAY: "10" },
    ],
    [
      "retention.audio_days: the audio goes with its text, after 3d (retention.completed_days)",
      { TRANSCRIBE_RETENTION_COMPLETED_DAYS: "3" },
    ],
    [
      "server.hosts: this is empty, so what the proxies pass on with a host name is refused with 400; list the names by which clients reach them",
      { TRANSCRIBE_SERVER_TRUSTED_PROXIES: "10.0.0.5" },
    ],
  ])("%s", (warning, environment) => {
    expect(warningsOf(environment)).toEqual([warning]);
  });

  test("and there are none among the defaults", () => {
    expect(warningsOf({})).toEqual([]);
  });
});
