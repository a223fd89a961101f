import type { Static } from "@sinclair/typebox";
import { bytes, choice, duration, flag, group, integer, list, nameOrPath, path, text } from "./setting-types.ts";

const server = group("Address, host names and TLS certificate of the API.", {
  host: text("Address to listen on. The default is loopback; 0.0.0.0 accepts requests from the network.", {
    default: "127.0.0.1",
    needsRestart: true,
    pattern: "^[A-Za-z0-9._:%-]+$",
    form: "a host name or an IP address",
    env: "TRANSCRIBE_HOST",
    flag: "--host",
  }),
  port: integer("TCP port to listen on; 0 chooses a free one.", {
    default: 8787,
    range: [0, 65_535],
    needsRestart: true,
    env: "TRANSCRIBE_PORT",
    flag: "--port",
  }),
  tls_certificate: path(
    "File with the server's certificate chain (PEM, the server's own certificate first). With it the server accepts only HTTPS, and loads a renewed file within a minute or at SIGHUP. Empty: plain HTTP.",
    { needsRestart: true },
  ),
  tls_key: path("File with the certificate's private key (PEM, not encrypted), readable by the server's user.", {
    needsRestart: true,
  }),
  hosts: list(
    "Host names by which clients reach the server (transcribe.example.org). IP addresses, localhost and the names in tls_certificate always work. A request with another name in its Host header is refused with 400. This protects against DNS rebinding, with which a web page could read answers by pointing its own name to this server.",
  ),
  origins: list(
    "Origins of web pages (https://notes.example.org, app://obsidian.md) that may call OpenAI's audio API under /v1 from a browser, with a key. Empty: none. The API under /api/public/v1 never allows other origins.",
  ),
  trusted_proxies: list(
    "Addresses and networks (10.0.0.5, 10.0.0.0/24) of the proxies in front of the server. Only their X-Forwarded-For and X-Forwarded-Proto headers are trusted to name the client.",
  ),
});

const storage = group("Directories and disk space.", {
  data_dir: path("Directory of the database, the uploads and the work files. It is created if it does not exist.", {
    default: "data",
    needsRestart: true,
    pattern: "\\S",
    env: "TRANSCRIBE_DATA_DIR",
    flag: "--data-dir",
  }),
  runtime_dir: path(
    "Directory into which the single-file program unpacks its native libraries and default models, about 260 MB. Empty: the directory runtime in the data directory. It must not be on a file system mounted noexec.",
    { needsRestart: true },
  ),
  audio: text(
    "Where the audio of recordings is stored: empty for the data directory, or a bucket of an object store, s3://BUCKET/PREFIX. New audio is stored in the data directory first and moved to the bucket at once; a copy stays here until the recording is processed. See docs/object-storage.md.",
    {
      needsRestart: true,
      pattern: "^(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9._/-]*)?)?$",
      form: "s3://BUCKET/PREFIX with letters, digits and ._-/ in the prefix, or empty",
    },
  ),
  reserve_bytes: bytes(
    "Free disk space that new recordings must leave on the disk of the data directory. With less free space, creates are answered with 503. Recordings that are already being processed use this space.",
    { default: 1024 ** 3, range: [0, 2 ** 50] },
  ),
});

const s3 = group("The object store of `storage.audio`, which has the S3 API.", {
  endpoint: text(
    "Address of the store, e.g. https://minio.example.org:9000. Buckets are addressed by their path. Empty: Amazon's.",
    {
      needsRestart: true,
      pattern: "^(https?://[^\\s/?#@]+/?)?$",
      form: "an address without a path, such as https://minio.example.org:9000, or empty",
    },
  ),
  region: text("Region of the bucket. Most other stores accept any.", {
    default: "us-east-1",
    needsRestart: true,
    pattern: "^[a-z0-9-]{1,40}$",
    form: "the name of a region, such as eu-central-1",
  }),
  credentials_file: path(
    "File with the key to the bucket, in the form of ~/.aws/credentials: lines with aws_access_key_id and aws_secret_access_key. Readable by the server's user only.",
    { needsRestart: true },
  ),
  ca_file: path(
    "File with the certificate (PEM) of the authority that signed the store's certificate. Empty: the authorities that the system trusts.",
    { needsRestart: true },
  ),
  encryption: text(
    "Encryption by the store: AES256, aws:kms, or aws:kms: and the id of a key. Empty: as the bucket is configured.",
    {
      needsRestart: true,
      pattern: "^(AES256|aws:kms(:[A-Za-z0-9:/_-]{1,200})?)?$",
      form: "AES256, aws:kms, aws:kms:KEY-ID, or empty",
    },
  ),
});

const queue = group("Processing of recordings.", {
  slots: integer(
    "Recordings that are processed at the same time. With at least two, no account occupies all slots while a recording of another account waits.",
    { default: 5, range: [1, 64] },
  ),
});

const limits = group(
  "Limits above which requests are refused. Limits of accounts and keys can be changed for one account: transcribe accounts limits.",
  {
    upload_bytes: bytes("Maximum size of a recording, in bytes.", {
      default: 512 * 1024 ** 2,
      range: [1, 64 * 1024 ** 3],
    }),
    recording_seconds: duration("seconds", "Maximum duration of a recording, in seconds.", {
      default: 18 * 3600,
      range: [1, 7 * 24 * 3600],
    }),
    recordings_per_account: integer("Recordings that one account may have queued or processing at the same time.", {
      default: 5,
      range: [1, 100_000],
    }),
    live_sessions_per_account: integer(
      "Live sessions that one account may have open at the same time. 0: as many as the server accepts, or half of them, rounded up, if there are several accounts.",
      { default: 0, range: [0, 10_000] },
    ),
    audio_minutes_per_day: duration("minutes", "Minutes of audio that one account may have processed in a day (UTC).", {
      default: 1200,
      range: [0, 10_000_000],
    }),
    creates_per_hour: integer("Recordings that one account may create within an hour.", {
      default: 60,
      range: [0, 1_000_000],
    }),
    creates_per_day: integer("Recordings that one account may create within 24 hours.", {
      default: 500,
      range: [0, 1_000_000],
    }),
    requests_per_minute: integer("Requests that one key may make within a minute.", {
      default: 120,
      range: [1, 1_000_000],
    }),
    failed_authentications_per_minute: integer(
      "Failed authentications that one address (IPv6: /64) may make within a minute.",
      { default: 20, range: [1, 1_000_000] },
    ),
  },
);

const links = group("Recordings that are created from a link.", {
  enabled: flag("Whether a recording may be created from a link.", { default: true }),
  allow: list(
    "Hosts (media.example.org, *.example.org) and networks (10.1.0.0/16) with non-public addresses that links may point to.",
  ),
  timeout_seconds: duration(
    "seconds",
    "Maximum duration of a download, in seconds. After its first minute, a download must also reach 16 KiB/s on average.",
    { default: 3600, range: [1, 86_400] },
  ),
  stall_seconds: duration("seconds", "Maximum time during which a download may receive nothing, in seconds.", {
    default: 30,
    range: [1, 3600],
  }),
});

const folders = group("Folders whose recordings are transcribed, see docs/folders.md.", {
  scan_seconds: duration("seconds", "Seconds between two visits to a folder.", { default: 5, range: [1, 3600] }),
  settle_seconds: duration(
    "seconds",
    "Seconds for which the size and the time of a file must not change before it is taken. For a folder on NFS, whose clients send data late, use at least 60.",
    { default: 15, range: [1, 24 * 3600] },
  ),
  incomplete_minutes: duration(
    "minutes",
    "Minutes for which a file must not change that seems to be incomplete. Then it is transcribed as it is, or moved to failed.",
    { default: 5, range: [0, 7 * 24 * 60] },
  ),
});

const retention = group("How long recordings and backups are kept.", {
  audio_days: duration(
    "days",
    "Days for which the audio of a recording is kept after the recording completed or failed; 0 removes it at once.",
    { default: 7, range: [0, 36_500] },
  ),
  completed_days: duration(
    "days",
    "Days after which a completed or failed recording is deleted with its transcript; 0 keeps it forever.",
    { default: 0, range: [0, 36_500] },
  ),
  upgrade_backup_days: duration(
    "days",
    "Days for which the database backups made by upgrades are kept, at most three of them. They still contain transcripts that were deleted later.",
    { default: 14, range: [1, 36_500] },
  ),
});

const engine = group("The inference worker.", {
  threads: integer(
    "CPU threads that all recordings share for inference; 0 uses one per core that the container or service may use: its CPU quota is rounded up.",
    { default: 0, range: [0, 1024], needsRestart: true },
  ),
  lanes: integer(
    "Operations that each GPU, or the CPU, runs at once. 0: the number that a measurement found best, see `transcribe bench --tune`; until then five on a GPU, and on a CPU one for each thread, at most four.",
    { default: 0, range: [0, 64], needsRestart: true },
  ),
  decoder_slots: integer(
    "Operations of each GPU, at most `engine.lanes`, whose texts are decoded together. 0: the number that a measurement found best, see `transcribe bench --tune`; 1: each operation decodes alone, which is also done before the measurement. A CPU always uses 1.",
    { default: 0, range: [0, 64], needsRestart: true },
  ),
  joint_states: integer("Deprecated: the former name of `decoder_slots`, which is used if that is 0.", {
    default: 0,
    range: [0, 64],
    needsRestart: true,
  }),
  device: choice(
    ["auto", "cpu", "vulkan", "cuda"],
    "Device of the speech model. `auto` uses a GPU that recognizes the same words as the CPU and is faster, and prefers CUDA to Vulkan. `vulkan` and `cuda` use that backend even if it is slower. The CPU is the fallback if a GPU fails. Speech detection and speaker diarization always use the CPU.",
    { default: "auto", needsRestart: true },
  ),
  cpu_variant: text(
    "Variant of the CPU backend, which determines the instructions of the speech model's encoder and decoder. `auto` uses the fastest one that passes its self-test. The name of a variant, such as `haswell` of libggml-cpu-haswell.so (AVX2), allows only this one, for example to compare two machines. `transcribe doctor` names the variants that fit; the server does not start with another one. ONNX Runtime chooses its instructions by itself, so this does not limit the models of speech detection and speaker diarization.",
    { default: "auto", needsRestart: true },
  ),
  cuda_library: path(
    "Path of ggml's CUDA backend: a libggml-cuda.so that `scripts/build --cuda` made from the same release. It is too large to be part of the program. Empty: no CUDA.",
    { needsRestart: true },
  ),
  whisper_model: nameOrPath(
    "The speech model: an id from `transcribe models list`, or the path of a ggml file. Empty: the model chosen with `transcribe models use`, otherwise the built-in one.",
    { needsRestart: true },
  ),
  recognizers: list(
    "Speech models by language, each entry like `de fr: ID`, with ids from `transcribe models list`. `*: ID` names the model that detects languages and recognizes those that no other model knows, if the model in use cannot; otherwise it is the built-in one. A language that is not listed is recognized by the model in use if it knows the language.",
    { needsRestart: true },
  ),
  idle_minutes: duration(
    "minutes",
    "Minutes without work after which the inference worker is ended to free the memory of its models. The next recording starts it again. 0 keeps it running.",
    { default: 0, range: [0, 525_600] },
  ),
});

const models = group("Source of model downloads.", {
  mirror: text(
    "Address of a folder with the official ggml files, for transcribe models pull. Empty: the publisher's address.",
    {
      pattern: "^([hH][tT][tT][pP][sS]?://\\S+)?$",
      form: "an http or https address, or empty",
      flag: "--mirror",
    },
  ),
});

const compat = group("APIs for existing clients, see docs/compat.md.", {
  openai: flag(
    "Whether the server offers OpenAI's audio API under /v1, with the same keys and limits. It opens nothing that the API does not.",
    { default: true },
  ),
  max_wait_seconds: duration(
    "seconds",
    "Maximum time that a request waits for its transcript. Then it is answered with 503.",
    { default: 3600, range: [1, 1_209_600] },
  ),
  asr: flag(
    "Whether the server offers the API of whisper-asr-webservice under /asr and /detect-language, for Bazarr and others. A key is the password of HTTP Basic there.",
    { default: false },
  ),
  asr_key_account: text(
    "Name or id of the account for which requests to /asr and /detect-language without a key from compat.asr_networks are processed. Empty: every request needs a key.",
  ),
  asr_networks: list(
    "Addresses and networks (10.0.0.5, 10.0.0.0/24) that need no key for /asr and /detect-language. Everybody there can use up the limits of compat.asr_key_account. Addresses of server.trusted_proxies are never among them.",
  ),
  keep: flag(
    "Whether the recordings of these requests are kept. They then appear in lists and in the console. By default a recording is deleted with its audio when its transcript was delivered.",
    { default: false },
  ),
  keep_abandoned: flag(
    "Whether a recording is processed to its end and kept although its client does not wait for the transcript any more. By default it is cancelled, and its charge is refunded.",
    { default: false },
  ),
});

const live = group("Live sessions, which transcribe sound while it arrives.", {
  enabled: flag("Whether the server offers live sessions.", { default: true }),
  sessions: integer(
    "Live sessions at the same time. 0: as many as the machine serves without delay, by a measurement.",
    { default: 0, range: [0, 1000] },
  ),
  idle_minutes: duration("minutes", "Minutes without sound after which a live session ends.", {
    default: 10,
    range: [1, 1440],
  }),
  wyoming: text(
    "Address for clients of Wyoming, the voice protocol of Home Assistant, e.g. 0.0.0.0:10300; see docs/wyoming.md. The protocol has neither keys nor encryption, so it is for a trusted network only. Empty: off.",
    {
      needsRestart: true,
      pattern: "^(([A-Za-z0-9._-]+|\\[[0-9A-Za-z:.%]+\\]):\\d{1,5})?$",
      form: "an address with a port such as 127.0.0.1:10300, or empty",
    },
  ),
  wyoming_account: text(
    "Name or id of the account for which Wyoming's clients transcribe. Its limits apply to all of them together.",
  ),
  wyoming_networks: list(
    "Addresses and networks (10.0.0.5, 10.0.0.0/24) whose Wyoming clients may connect. By default only this machine.",
    { default: ["127.0.0.0/8", "::1"] },
  ),
});

const metrics = group("Metrics for Prometheus.", {
  remote: flag("Whether other machines may read /metrics. By default only this machine may.", { default: false }),
  token_file: path(
    "File with a token of at least 16 characters, readable by the server's user. Machines that send it (Authorization: Bearer TOKEN) may read /metrics without metrics.remote.",
  ),
});

const webConsole = group("The web console, see console.md.", {
  enabled: flag(
    "Whether the server provides the console under /console. Operators sign in with a link that `transcribe console` prints, or with a password. Other people sign in as users, see sign-in.md.",
    { default: false },
  ),
  operator_password: flag(
    "Whether the operator's password signs in. false also ends the sessions that it opened. Sign-in links always work.",
    { default: true },
  ),
});

const oidc = group("Sign-in to the console by an OpenID Connect provider, see sign-in.md.", {
  issuer: text(
    "Issuer of the provider, e.g. https://login.example.org/realms/main. The server reads ISSUER/.well-known/openid-configuration. Empty: no provider.",
  ),
  client_id: text("Id of the server as a client of the provider."),
  client_secret_file: path(
    "File with the client's secret, readable by the server's user only. Empty: a public client, which PKCE alone protects.",
  ),
  name: text("Name of the provider on the sign-in screen. Empty: the issuer's host."),
  scopes: list("Scopes that are requested. openid is always one of them.", { default: ["openid", "profile", "email"] }),
  groups_claim: text(
    "Claim with the groups of a person. A claim inside another one is written with a dot: realm_access.roles.",
    { default: "groups" },
  ),
  rules: list(
    'Roles of people, one rule each: "operator: group admins", "member acme beta: group sales", "reader *: domain example.org". An operator may do everything. A member sees and changes the recordings of these accounts, a reader sees them; * stands for all accounts. A person is selected by a group, a verified e-mail domain or a verified address (email anna@example.org). Nobody else gets in. Other rules end the sessions of all people whom the provider signed in.',
  ),
  session_minutes: duration(
    "minutes",
    "Maximum duration of a session that the provider opened. The person then signs in again, and the rules apply to the groups of that time.",
    { default: 720, range: [5, 10_080] },
  ),
});

const log = group("The log on standard error, one JSON object per line.", {
  level: choice(["debug", "info", "warn", "error", "silent"], "Minimum severity of the log lines that are written.", {
    default: "info",
    flag: "--log-level",
  }),
});

const fleet = group("Several machines that process recordings together; see docs/fleet.md.", {
  broker: text(
    "Address of the fleet's NATS server, e.g. tls://10.0.0.5:4222. The server then also sends parts of recordings to the workers of the fleet. Empty: this machine works alone.",
    {
      needsRestart: true,
      pattern: "^(((tls|nats)://)?[^\\s/]+/?)?$",
      form: "an address such as tls://10.0.0.5:4222, or empty",
      flag: "--fleet",
    },
  ),
  ca: path("File with the certificate of the fleet's authority (PEM), from transcribe fleet init.", {
    needsRestart: true,
  }),
  certificate: path("File with this machine's certificate for the fleet (PEM), from transcribe fleet init.", {
    needsRestart: true,
  }),
  key: path("File with the private key of fleet.certificate (PEM), readable by the program's user only.", {
    needsRestart: true,
  }),
  machine: text(
    "Name of this machine in the fleet; it must be the one in its certificate. In a pool it is the worker's name in the pool, by which no other worker of the pool goes. Empty: the host name.",
    { needsRestart: true, flag: "--machine" },
  ),
  pool: text(
    "Pool of this worker. All workers of a pool have the same certificate, from transcribe fleet init --pool. Empty: this machine has a certificate of its own.",
    {
      needsRestart: true,
      pattern: "^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)?$",
      form: "1 to 63 letters, digits and inner hyphens, or empty",
    },
  ),
  drain_seconds: duration(
    "seconds",
    "Seconds in which a worker that stops may finish its parts. It returns at once the parts that it has not begun, and afterwards those that still run. Whatever stops the worker must allow some seconds more.",
    { default: 20, range: [0, 3600], needsRestart: true },
  ),
  health: text(
    "Address on which a worker answers /readyz and /healthz without TLS and without a key, e.g. 0.0.0.0:8788 for the probes of Kubernetes. Empty: a worker listens on no port.",
    {
      needsRestart: true,
      pattern: "^(([A-Za-z0-9._-]+|\\[[0-9A-Za-z:.%]+\\]):\\d{1,5})?$",
      form: "an address with a port such as 127.0.0.1:8788, or empty",
    },
  ),
  target_minutes: duration(
    "minutes",
    "Minutes in which the audio that waits should be processed. The number of workers that the server wants, for a system that starts and stops them, is computed from it.",
    { default: 10, range: [1, 10_080] },
  ),
  max_workers: integer("Greatest number of workers that the server wants.", { default: 8, range: [1, 10_000] }),
  work_here: flag("Whether the server's own machine also processes parts of recordings that workers could process.", {
    default: true,
    needsRestart: true,
  }),
});

const standby = group("A second machine that can take over; see docs/standby.md.", {
  listen: text(
    "Address on which this server lets its standby follow, e.g. 0.0.0.0:8788. Only a standby with a certificate of standby.ca may. Empty: no standby.",
    {
      needsRestart: true,
      pattern: "^(([A-Za-z0-9._-]+|\\[[0-9A-Za-z:.%]+\\]):\\d{1,5})?$",
      form: "an address with a port such as 0.0.0.0:8788, or empty",
    },
  ),
  from: text(
    "The server that a standby follows: tls://HOST:PORT, which is its standby.listen, or the path of its data directory on this machine.",
    {
      pattern: "^(tls://([A-Za-z0-9._-]+|\\[[0-9A-Za-z:.%]+\\]):\\d{1,5}|[./].*)?$",
      form: "an address such as tls://transcribe.example.org:8788, or the path of a directory that begins with / or .",
      flag: "--from",
    },
  ),
  follow: flag(
    "Whether `transcribe serve` follows the server of standby.from in an empty data directory, until `transcribe promote`. From its next start on, it serves.",
    { default: false, needsRestart: true },
  ),
  rejoin: flag(
    "Whether `transcribe serve` follows the server of standby.from after that has taken over by the fence (standby.fence). What only this machine has is then discarded. With false, it exits with code 6.",
    { default: false, needsRestart: true },
  ),
  ca: path("File with the certificate (PEM) of the authority that issued the certificates of server and standby.", {
    needsRestart: true,
  }),
  certificate: path(
    "File with the certificate (PEM) of this machine, by which the other one knows it: transcribe standby init.",
    { needsRestart: true },
  ),
  key: path("File with the private key (PEM) of standby.certificate, readable by the server's user only.", {
    needsRestart: true,
  }),
  wait: flag(
    "Whether a change is answered only when the standby has it. Without a standby that has everything, changes are then refused with 503. With false, the standby has a change within 2 seconds after its answer.",
    { default: false },
  ),
  log_bytes: bytes(
    "Maximum size of the database's log for a standby that is away or slow. Beyond it, the standby needs a new copy of what has changed in the database.",
    { default: 256 * 1024 ** 2, range: [1024 ** 2, 2 ** 40] },
  ),
  fence: text(
    "What keeps two servers from serving at the same time: `broker` for the fleet's broker, or the path of a folder on storage that both machines reach. The server then serves only while it can renew its lease there. Empty: nothing, which is right for a server without a standby.",
    {
      needsRestart: true,
      pattern: "^(broker|/.*)?$",
      form: "broker, the absolute path of a folder, or empty",
    },
  ),
  lease_seconds: duration(
    "seconds",
    "Seconds for which a lease is valid. A server renews it four times in this time, and pauses when it can't. A takeover waits about as long for a server that was lost. Set the same on both machines.",
    { default: 12, range: [2, 20], needsRestart: true },
  ),
});

const audit = group("The audit log and its copy on another machine, see docs/audit.md.", {
  syslog: text(
    "Receiver of the audit log by syslog over TLS (RFC 5425), e.g. logs.example.org:6514. At first it gets all entries, the oldest first. Empty: off.",
    {
      pattern: "^(([A-Za-z0-9._-]+|\\[[0-9A-Za-z:.%]+\\]):\\d{1,5})?$",
      form: "an address with a port such as logs.example.org:6514, or empty",
    },
  ),
  syslog_ca: path(
    "File with the certificates of the authorities (PEM) that may have issued the receiver's certificate. Empty: the public authorities.",
  ),
  syslog_certificate: path(
    "File with the server's certificate for the receiver (PEM, the server's own certificate first). Empty: none.",
  ),
  syslog_key: path("File with the private key of audit.syslog_certificate (PEM, not encrypted)."),
  reads: flag(
    "Whether the audit log also lists who reads which transcript: each view and each export, without the text.",
    { default: false },
  ),
  retention_days: duration(
    "days",
    "Days after which entries of the audit log are removed, with `audit.syslog` only those that the receiver has confirmed; 0 keeps them forever.",
    { default: 0, range: [0, 36_500] },
  ),
});

const webhooks = group("Events that are sent to applications, see docs/webhooks.md.", {
  enabled: flag("Whether events are sent. They are stored in the meantime.", { default: true }),
  allow: list(
    "Hosts (hooks.example.org, *.example.org) and networks (10.1.0.0/16) with non-public addresses that webhooks may have. Only these may be reached without TLS.",
  ),
});

/**
 * Every setting, defined once: name, type, unit, range, default and description. The settings file, the environment,
 * the flags and the documentation are generated from this schema. A key's dotted path is its name in the file
 * (`server.port`). Its environment variable is derived from the path (`TRANSCRIBE_QUEUE_SLOTS`) unless `env` names a
 * shorter one. `flag` is its option of `serve`.
 */
export const settingsSchema = group("Settings of the transcribe server.", {
  server,
  storage,
  s3,
  queue,
  limits,
  fetch: links,
  webhooks,
  folders,
  retention,
  engine,
  models,
  fleet,
  standby,
  compat,
  live,
  metrics,
  audit,
  console: webConsole,
  oidc,
  log,
});

export type Settings = Static<typeof settingsSchema>;
