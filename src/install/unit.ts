import { defaultDataDirectory, places } from "./layout.ts";
import { runTool, textOf } from "./machine.ts";

export interface UnitOptions {
  readonly user: string;
  readonly configFile: string;
  readonly dataDirectory: string;
  /** Port to listen on; a port below 1024 needs a capability. */
  readonly port: number;
  /** Groups that own GPU devices and exist on the machine. */
  readonly deviceGroups: readonly string[];
}

/** Returns the service's unit (systemd.unit(5)), as restricted as its work allows. */
export function unitFile(options: UnitOptions): string {
  const { user, configFile, dataDirectory, port, deviceGroups } = options;
  const capability = port > 0 && port < 1024 ? "CAP_NET_BIND_SERVICE" : "";
  return `# Written by "transcribe service install"; changes of your own belong in ${places.unit}.d/*.conf
[Unit]
Description=Transcribe, transcription server
Wants=network-online.target
After=network-online.target nvidia-persistenced.service
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=notify
ExecStart=${places.program} serve --config ${configFile}
# The shell's own kill: small systems have no other.
ExecReload=/bin/sh -c 'kill -HUP $MAINPID'
Environment=TRANSCRIBE_STORAGE_RUNTIME_DIR=${places.runtimeDirectory}
User=${user}
${deviceGroups.map((group) => `SupplementaryGroups=${group}\n`).join("")}${stateLines(dataDirectory)}
UMask=0077

# Starting may migrate a large database; stopping suspends what runs.
TimeoutStartSec=600
TimeoutStopSec=30
# Silent for so long, the server hangs; a core or a native stack would tell nothing about why.
WatchdogSec=60
WatchdogSignal=SIGKILL
Restart=on-failure
RestartSec=2
# Wrong settings stay wrong.
RestartPreventExitStatus=2
# The server ends its workers itself, and outlives one that runs out of memory.
KillMode=mixed
OOMPolicy=continue
LimitNOFILE=65536
TasksMax=4096
# A core file would hold what people said.
LimitCORE=0

# What is not needed is closed. Writable and executable memory has to stay: the runtime compiles.
NoNewPrivileges=yes
CapabilityBoundingSet=${capability}
AmbientCapabilities=${capability}
# A capability counts in the machine's own user namespace alone.
PrivateUsers=${capability === "" ? "yes" : "no"}
PrivateMounts=yes
PrivateTmp=yes
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
LockPersonality=yes
KeyringMode=private
RemoveIPC=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
# ffmpeg gets a network namespace of its own, without a network, and a limit of threads, by way of a user namespace.
RestrictNamespaces=user net
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
SystemCallArchitectures=native
# @resources stays: inference says where its threads and memory lie.
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @keyring
# ffmpeg is confined by its own filter of system calls and by Landlock, without capabilities.
SystemCallFilter=capset landlock_create_ruleset landlock_add_rule landlock_restrict_self
SystemCallErrorNumber=EPERM
# Nothing that the service can write can be run.
NoExecPaths=${dataDirectory} /tmp /var/tmp /dev/shm
# GPUs: NVIDIA, then Intel and AMD, then AMD's compute device.
DevicePolicy=closed
DeviceAllow=char-nvidia* rw
DeviceAllow=char-drm rw
DeviceAllow=char-kfd rw

[Install]
WantedBy=multi-user.target
`;
}

/**
 * Returns the lines for the data directory. systemd creates its default state directory; any other one must be listed
 * as writable.
 */
function stateLines(dataDirectory: string): string {
  if (dataDirectory !== defaultDataDirectory) return `ReadWritePaths=${dataDirectory}`;
  return "StateDirectory=transcribe\nStateDirectoryMode=0700";
}

/** Returns the user and settings file of an installed unit; null when the unit is not ours. */
export function readUnit(text: string): { user: string; configFile: string } | null {
  const user = /^User=(\S+)$/m.exec(text)?.[1];
  const configFile = /^ExecStart=\S+ serve --config (\S+)$/m.exec(text)?.[1];
  return user === undefined || configFile === undefined ? null : { user, configFile };
}

/**
 * Returns the ids of the installed service's extra groups; an empty list when the service runs as another user.
 * @param unit the unit's text
 * @param groups this machine's list of groups
 */
export function serviceGroups(
  userId: number,
  unit: string = textOf(places.unit),
  groups: string = textOf("/etc/group"),
): number[] {
  const user = readUnit(unit)?.user;
  if (user === undefined || runTool(["id", "-u", user]).stdout !== `${userId}\n`) return [];
  const names = [...unit.matchAll(/^SupplementaryGroups=(\S+)$/gm)].map(([, name]) => name);
  const lines = groups.split("\n").map((line) => line.split(":"));
  return lines.flatMap(([name, , id]) => (names.includes(name) && id !== undefined ? [Number(id)] : []));
}
