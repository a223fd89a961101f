import { describe, expect, test } from "bun:test";
import { loadSettings, settingWarnings } from "../../src/config/index.ts";

const warningsOf = (environment: Record<string, string>) =>
  settingWarnings(loadSettings({ file: undefined, environment, flags: {} })).map(
    ({ setting, message }) => `${setting}: ${message}`,
  );

const wyoming = (address: string) => ({
  TRANSCRIBE_LIVE_WYOMING: address,
  TRANSCRIBE_LIVE_WYOMING_ACCOUNT: "home",
});

describe("a warning names a setting that has no effect because of another one:", () => {
  test.each([
    [
      "fetch.allow: this has no effect while fetch.enabled is false",
      { TRANSCRIBE_FETCH_ENABLED: "false", TRANSCRIBE_FETCH_ALLOW: "a.example" },
    ],
    [
      "fetch.stall_seconds: this has no effect: fetch.timeout_seconds already ends a download after 20s",
      { TRANSCRIBE_FETCH_TIMEOUT_SECONDS: "20s" },
    ],
    [
      "limits.creates_per_hour: this has no effect: limits.creates_per_day allows 10 in a day",
      { TRANSCRIBE_LIMITS_CREATES_PER_DAY: "10" },
    ],
    [
      "retention.audio_days: the audio is deleted with its transcript, after 3d (retention.completed_days)",
      { TRANSCRIBE_RETENTION_COMPLETED_DAYS: "3" },
    ],
    [
      "oidc.rules: this is empty, so the provider signs in nobody; give people roles, e.g. operator: group admins",
      { TRANSCRIBE_OIDC_ISSUER: "https://login.example.org", TRANSCRIBE_CONSOLE_ENABLED: "true" },
    ],
    [
      "oidc.issuer: this has no effect while console.enabled is false",
      { TRANSCRIBE_OIDC_ISSUER: "https://login.example.org", TRANSCRIBE_OIDC_RULES: "operator: group admins" },
    ],
    [
      "server.hosts: this is empty, so the server refuses requests with a host name that the proxies forward, with 400; list the names by which clients reach the proxies",
      { TRANSCRIBE_SERVER_TRUSTED_PROXIES: "10.0.0.5" },
    ],
    [
      "live.wyoming_account: this has no effect while live.wyoming is empty",
      { TRANSCRIBE_LIVE_WYOMING_ACCOUNT: "home" },
    ],
    [
      "live.wyoming_networks: live.wyoming is an address of this machine alone, so other machines cannot connect; listen on 0.0.0.0 for example",
      { ...wyoming("127.0.0.1:10300"), TRANSCRIBE_LIVE_WYOMING_NETWORKS: "127.0.0.0/8,192.168.1.0/24" },
    ],
  ])("%s", (warning, environment) => {
    expect(warningsOf(environment)).toEqual([warning]);
  });

  test.each([
    ["127.0.0.1:10300", "::1"],
    ["[::1]:10300", "127.0.0.0/8"],
    ["0.0.0.0:10300", "192.168.1.0/24"],
    ["box.example:10300", "192.168.1.0/24"],
  ])("no warning is given for Wyoming at %p with clients from %p", (address, networks) => {
    expect(warningsOf({ ...wyoming(address), TRANSCRIBE_LIVE_WYOMING_NETWORKS: networks })).toEqual([]);
  });

  test("no warning is given for the defaults", () => {
    expect(warningsOf({})).toEqual([]);
  });
});
