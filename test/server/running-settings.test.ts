import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { loadSettings, SettingsError } from "../../src/config/index.ts";
import { RunningSettings, settingFaults } from "../../src/server/running-settings.ts";

const load = (environment: Record<string, string>) => loadSettings({ file: undefined, environment, flags: {} });

describe("a reload of the settings", () => {
  test("applies settings that a running server can change, and reports and keeps those that need a restart", () => {
    const running = new RunningSettings(load({ TRANSCRIBE_PORT: "8001" }));
    const { changed, needRestart } = running.reload(
      load({ TRANSCRIBE_PORT: "8002", TRANSCRIBE_QUEUE_SLOTS: "2", TRANSCRIBE_FETCH_ALLOW: "10.0.0.0/8" }),
    );
    expect({ changed, needRestart }).toEqual({ changed: ["queue.slots", "fetch.allow"], needRestart: ["server.port"] });
    expect(running.values.queue.slots).toBe(2);
    expect(running.values.server.port).toBe(8001);
    expect(running.parsed.allow.ipv4.check("10.1.2.3", "ipv4")).toBe(true);
  });

  test("of the same settings changes nothing, and reports again which settings need a restart", () => {
    const running = new RunningSettings(load({}));
    const next = load({ TRANSCRIBE_DATA_DIR: "/elsewhere", TRANSCRIBE_LIMITS_CREATES_PER_DAY: "7" });
    expect(running.reload(next)).toMatchObject({
      changed: ["limits.creates_per_day"],
      needRestart: ["storage.data_dir"],
    });
    expect(running.reload(next)).toMatchObject({ changed: [], needRestart: ["storage.data_dir"] });
  });

  test("replaces the accepted host names, except the address that the server listens on", () => {
    const running = new RunningSettings(load({ TRANSCRIBE_HOST: "Box.example", TRANSCRIBE_SERVER_HOSTS: "a.example" }));
    expect([...running.parsed.hosts]).toEqual(["a.example", "box.example"]);
    running.reload(load({ TRANSCRIBE_HOST: "Box.example", TRANSCRIBE_SERVER_HOSTS: "b.example,c.example" }));
    expect([...running.parsed.hosts]).toEqual(["b.example", "c.example", "box.example"]);
  });

  test("with an invalid network is refused and changes nothing", () => {
    const running = new RunningSettings(load({ TRANSCRIBE_FETCH_ALLOW: "10.0.0.0/8" }));
    const before = running.values;
    const next = load({ TRANSCRIBE_FETCH_ALLOW: "10.0.0.0/99", TRANSCRIBE_QUEUE_SLOTS: "1" });
    expect(() => running.reload(next)).toThrow(SettingsError);
    expect(running.values).toBe(before);
    expect(running.parsed.allow.ipv4.check("10.1.2.3", "ipv4")).toBe(true);
  });
});

describe("the settings of Wyoming", () => {
  const faultsOf = (environment: Record<string, string>) =>
    settingFaults(load(environment)).map(({ setting, message }) => `${setting}: ${message}`);

  test("need an account", () => {
    expect(faultsOf({ TRANSCRIBE_LIVE_WYOMING: "127.0.0.1:10300" })).toEqual([
      "live.wyoming: set live.wyoming_account, too",
    ]);
    expect(faultsOf({ TRANSCRIBE_LIVE_WYOMING_ACCOUNT: "home" })).toEqual([]);
  });

  test.each(["127.0.0.1:10300", "0.0.0.0:0", "[::]:65535", "[fe80::1%eth0]:10300", "box.example:10300"])(
    "listen on %p",
    (address) => {
      expect(faultsOf({ TRANSCRIBE_LIVE_WYOMING: address, TRANSCRIBE_LIVE_WYOMING_ACCOUNT: "home" })).toEqual([]);
    },
  );

  test("refuse a port that there is not, and a network that is none", () => {
    const environment = {
      TRANSCRIBE_LIVE_WYOMING: "127.0.0.1:65536",
      TRANSCRIBE_LIVE_WYOMING_ACCOUNT: "home",
      TRANSCRIBE_LIVE_WYOMING_NETWORKS: "0.0.0.0/0",
    };
    expect(faultsOf(environment)).toEqual([
      "live.wyoming: 127.0.0.1:65536 is not an address with a port; write 127.0.0.1:10300, 0.0.0.0:10300 or [::]:10300",
      "live.wyoming_networks: 0.0.0.0/0: the prefix length after the slash must be from 1 to 32; trusting every address is not allowed",
    ]);
  });

  test.each(["10300", ":10300", "127.0.0.1", "::1:10300", "tcp://127.0.0.1:10300", "127.0.0.1:"])(
    "refuse %p as an address",
    (address) => {
      expect(() => load({ TRANSCRIBE_LIVE_WYOMING: address })).toThrow(SettingsError);
    },
  );
});

describe("the token of the metrics", () => {
  const read = async (content: string) => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "token");
    await Bun.write(path, content);
    return new RunningSettings(load({ TRANSCRIBE_METRICS_TOKEN_FILE: path })).parsed.metricsToken;
  };

  test("is the file's only line", async () => {
    expect(await read("sixteen-characters\n")).toBe("sixteen-characters");
    expect(new RunningSettings(load({})).parsed.metricsToken).toBeNull();
  });

  test.each(["", "short", "two words that are long", `${"x".repeat(5000)}`])("can't be %p", async (content) => {
    await expect(read(content)).rejects.toThrow("token");
  });
});
