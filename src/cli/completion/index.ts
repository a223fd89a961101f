import { Argument, Command } from "commander";
import { bashScript, zshScript } from "./bash-and-zsh.ts";
import { fishScript } from "./fish.ts";
import { completionPlaces } from "./places.ts";

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

const howTo = `
To install it for new shells:
  bash   transcribe completion bash > ~/.local/share/bash-completion/completions/transcribe
  zsh    transcribe completion zsh > DIRECTORY_OF_FPATH/_transcribe
  fish   transcribe completion fish > ~/.config/fish/completions/transcribe.fish`;

/** transcribe completion bash|zsh|fish */
export function completionCommand(): Command {
  return new Command("completion")
    .description("Print a script that completes commands, options and values in a shell.")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(scripts)))
    .addHelpText("after", howTo)
    .action((shell: keyof typeof scripts, _options: object, command: Command) => {
      process.stdout.write(scripts[shell](completionPlaces(command.parent ?? command)));
    });
}
