import { existsSync } from "node:fs";
import { type Check, ok, problem, skipped, warning } from "../check.ts";

const unit = "transcribe.service";

export const serverService: Check = {
  id: "server.service",
  title: "Service",
  explanation:
    "Where `transcribe service install` made a systemd unit: whether it is enabled, runs, or has failed and why.",
  async run({ machine }) {
    if (!existsSync("/run/systemd/system")) return skipped("systemd does not run this machine");
    const shown = await machine.run([
      "systemctl",
      "show",
      unit,
      "--property=LoadState,ActiveState,SubState,Result,UnitFileState,NRestarts",
    ]);
    const state = new Map(
      (shown?.output ?? "").split("\n").map((line): [string, string] => {
        const [name = "", ...value] = line.split("=");
        return [name, value.join("=")];
      }),
    );
    if (state.get("LoadState") !== "loaded")
      return skipped(`there is no ${unit}; \`transcribe service install\` makes it`);
    const active = state.get("ActiveState") ?? "unknown";
    if (active === "failed") {
      return problem(`${unit} has failed (${state.get("Result") ?? "unknown"})`, {
        advice: `See why: journalctl -u ${unit} -n 50. Then: systemctl restart ${unit}.`,
      });
    }
    const restarts = Number(state.get("NRestarts") ?? 0);
    const summary = `${unit} is ${active} (${state.get("SubState") ?? "?"}), ${state.get("UnitFileState") ?? "?"}, restarted ${restarts} times`;
    if (active !== "active" && active !== "reloading") {
      return warning(summary, { advice: `Start it: systemctl start ${unit}.` });
    }
    if (state.get("UnitFileState") !== "enabled") {
      return warning(summary, { advice: `It won't start with the machine: systemctl enable ${unit}.` });
    }
    return ok(summary);
  },
};
