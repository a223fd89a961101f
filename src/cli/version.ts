import { Command } from "commander";
import { buildInfo } from "../program/index.ts";
import { print } from "./output.ts";

/** transcribe version */
export function versionCommand(): Command {
  return new Command("version")
    .description("Say which version this is and what it is made of.")
    .option("--json", "with the versions of its parts and the digests of its models")
    .action(async ({ json = false }: { json?: boolean }) => {
      const build = await buildInfo();
      print(json, build, () => `transcribe ${build.version} (commit ${build.commit}, ${build.target})`);
    });
}
