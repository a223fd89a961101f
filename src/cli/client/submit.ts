import { Command } from "commander";
import { baseUrlOf } from "../../appliance/index.ts";
import { CommandError } from "../command-error.ts";
import { addSettingsOptions, settingsOf } from "../settings-options.ts";
import { transcribeFile } from "./transcribe-file.ts";

interface SubmitOptions {
  readonly server?: string;
  readonly key?: string;
  readonly language?: string;
  readonly every?: string;
  readonly json?: boolean;
}

/** transcribe submit FILE */
export function submitCommand(): Command {
  return addSettingsOptions(new Command("submit"), ["storage.data_dir", "server.host", "server.port"])
    .description("Send a recording to a server, wait, and print who said what.")
    .argument("<file>", "a recording, audio or video")
    .option("--server <url>", "the server, e.g. http://127.0.0.1:8787 (default: this machine's)")
    .option("--key <key>", "an API key; better in the environment: TRANSCRIBE_API_KEY")
    .option("--language <code>", "ISO code of the language that is spoken (default: found out)")
    .option("--every <seconds>", "pause between polls (default: as the API recommends)")
    .option("--json", "print the transcription and its segments as JSON")
    .action(async (file: string, options: SubmitOptions, command: Command) => {
      const key = options.key ?? process.env.TRANSCRIBE_API_KEY;
      if (key === undefined) {
        throw new CommandError(
          "an API key is needed: set TRANSCRIBE_API_KEY; make one with: transcribe keys create --account NAME",
        );
      }
      const everySeconds = options.every === undefined ? undefined : Number(options.every);
      if (everySeconds !== undefined && !(everySeconds > 0))
        throw new CommandError("--every takes a number of seconds");
      const baseUrl = baseUrlOf(options.server ?? settingsOf(command));
      await transcribeFile({
        baseUrl,
        key,
        file,
        language: options.language,
        json: options.json === true,
        everySeconds,
      });
    });
}
