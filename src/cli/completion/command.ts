import { Argument, Command } from "commander";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { completionPlaces, type Place } from "./places.ts";
import { zshScript } from "./zsh.ts";

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const satisfies Record<
  string,
  (places: readonly Place[]) => string
>;
type Shell = keyof typeof scripts;

const howTo = `
To have it in every new shell:
  bash   transcribe completion bash > ~/.local/share/bash-completion/completions/transcribe
  zsh    transcribe completion zsh > DIRECTORY_OF_FPATH/_transcribe
  fish   transcribe completion fish > ~/.config/fish/completions/transcribe.fish`;

/** transcribe completion bash|zsh|fish */
export function completionCommand(): Command {
  return new Command("completion")
    .description("Print a script by which a shell completes commands, options and their values.")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(scripts)))
    .addHelpText("after", howTo)
    .action((shell: Shell, _options: object, command: Command) => {
      process.stdout.write(scripts[shell](completionPlaces(command.parent ?? command)));
    });
}
