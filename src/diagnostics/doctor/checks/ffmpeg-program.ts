import { type Check, ok, problem, warning } from "../check.ts";
import { filesOf } from "../files-of.ts";

export const ffmpegProgram: Check = {
  id: "ffmpeg.program",
  title: "ffmpeg",
  explanation:
    "ffmpeg reads the recordings that people send. Here it is started and asked for its version and its licence, which follows from how it was built.",
  async run(context) {
    const { ffmpeg } = filesOf(context);
    const answer = await context.machine.run([ffmpeg, "-hide_banner", "-version"]);
    const version = /^ffmpeg version (\S+)/m.exec(answer?.output ?? "")?.[1];
    if (answer === null || answer.exitCode !== 0 || version === undefined) {
      return problem("ffmpeg does not run, so no recording can be read", {
        detail: [`${ffmpeg}: ${answer?.output.trim().split("\n")[0] || "it can't be started"}`],
        advice:
          "Check that its file system is not mounted noexec. Else unpack the program again with `transcribe doctor --fix`, or run scripts/setup in a checkout.",
      });
    }
    const has = (option: string) => answer.output.includes(`--enable-${option}`);
    if (has("nonfree")) {
      return warning(`version ${version}, built with parts that nobody may pass on`, {
        advice: "It works. Don't hand this copy to anybody else; another build of ffmpeg has no such limit.",
      });
    }
    const licence = `${has("gpl") ? "GPL" : "LGPL"} ${has("version3") ? "3" : has("gpl") ? "2" : "2.1"} or later`;
    return ok(`version ${version}, ${licence}`);
  },
};
