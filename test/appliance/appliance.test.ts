import { expect, test } from "bun:test";
import { startAppliance } from "../../src/appliance/appliance.ts";
import { StartError } from "../../src/appliance/start-error.ts";
import { loadSettings } from "../../src/config/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

test("an appliance that can't start gives back what it had taken, so that the next one can", async () => {
  using directory = temporaryDirectory();
  using other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const settings = (environment: Record<string, string>) =>
    loadSettings({ file: undefined, environment: { TRANSCRIBE_DATA_DIR: directory.path, ...environment }, flags: {} });
  const refused = [{ TRANSCRIBE_PORT: String(other.port) }, { TRANSCRIBE_ENGINE_WHISPER_MODEL: "/no/such.bin" }];
  for (const environment of refused) {
    await expect(startAppliance(settings(environment), createLogger("silent"))).rejects.toThrow(StartError);
    expect(new DataDirectory(directory.path).lock()).not.toThrow();
  }
}, 60_000);
