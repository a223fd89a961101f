import { findConfinementTools } from "../../media/index.ts";
import { type Check, ok, warning } from "../check.ts";
import type { Machine } from "../machine.ts";

export const ffmpegConfinement: Check = {
  id: "ffmpeg.confinement",
  title: "Confinement of ffmpeg",
  explanation:
    "A recording may be made to attack ffmpeg. So it runs without network (in a network namespace of its own), without new privileges, and under limits of memory, time and output. The namespace needs util-linux and a kernel that lets users make one.",
  async run({ machine }) {
    const { withoutNetwork, withoutPrivileges } = await findConfinementTools();
    if (withoutNetwork.length > 0 && withoutPrivileges.length > 0) return ok("no network, no new privileges, limits");
    const lacking = [
      ...(withoutNetwork.length > 0 ? [] : ["a network of its own"]),
      ...(withoutPrivileges.length > 0 ? [] : ["a stop to new privileges"]),
    ];
    return warning(`ffmpeg runs without ${lacking.join(" and ")}; its limits on memory and time hold`, {
      detail: reasons(machine),
      advice:
        "Install util-linux where unshare and setpriv are missing. In a container, or where the kernel forbids namespaces, the container's own walls take their place: give it no more network than it needs.",
    });
  },
};

function reasons(machine: Machine): string[] {
  const value = (path: string) => machine.read(path)?.trim();
  return [
    ...(value("/proc/sys/kernel/unprivileged_userns_clone") === "0" ? ["kernel.unprivileged_userns_clone is 0"] : []),
    ...(value("/proc/sys/user/max_user_namespaces") === "0" ? ["user.max_user_namespaces is 0"] : []),
    ...(value("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") === "1"
      ? ["kernel.apparmor_restrict_unprivileged_userns is 1 (Ubuntu 23.10 and later)"]
      : []),
    ...["unshare", "setpriv"].flatMap((tool) =>
      ["/usr/bin", "/bin"].some((folder) => machine.list(folder).includes(tool)) ? [] : [`${tool} is not installed`],
    ),
  ];
}
