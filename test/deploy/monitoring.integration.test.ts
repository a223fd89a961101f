import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { root } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { describedMetrics } from "../../tools/development/docs/pages.ts";
import { promtoolProgram } from "../support/promtool.ts";

/** The variable of the dashboard, in Grafana's spelling. */
const dataSource = "\u0024{datasource}";

const dashboardSchema = Type.Object({
  title: Type.Literal("Transcribe"),
  schemaVersion: Type.Integer({ minimum: 39 }),
  templating: Type.Object({ list: Type.Array(Type.Object({ name: Type.String() })) }),
  panels: Type.Array(
    Type.Object({
      id: Type.Integer(),
      type: Type.String(),
      title: Type.String({ minLength: 3 }),
      gridPos: Type.Object({ x: Type.Integer(), y: Type.Integer(), w: Type.Integer(), h: Type.Integer() }),
      datasource: Type.Optional(Type.Object({ uid: Type.Literal(dataSource) })),
      fieldConfig: Type.Optional(Type.Object({ defaults: Type.Object({ unit: Type.String({ minLength: 1 }) }) })),
      targets: Type.Optional(Type.Array(Type.Object({ expr: Type.String(), legendFormat: Type.String() }))),
    }),
  ),
});

const dashboard: unknown = JSON.parse(readFileSync(join(root, "deploy/grafana/transcribe.json"), "utf8"));
const alertsPath = join(root, "deploy/prometheus-alerts.yml");
const alerts = readFileSync(alertsPath, "utf8");
const metrics = describedMetrics();
const promtool = await promtoolProgram("PromQL of dashboard and alerts");

/** Metrics that a text names, without what a histogram adds to its name. */
function namedIn(text: string): Set<string> {
  const names = text.match(/\b(?:transcribe|process)_[a-z_]+\b/g) ?? [];
  return new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, "")));
}

/** Returns the name of a series with the label of its instance, which is "a" unless the name has another one. */
function ofInstance(name: string): string {
  const [metric = "", labels = ""] = name.split(/[{}]/);
  return labels.includes("instance=") ? name : `${metric}{${[`instance="a"`, labels].join(",")}}`;
}

function panels() {
  if (!Value.Check(dashboardSchema, dashboard)) {
    throw new Error(JSON.stringify(Value.Errors(dashboardSchema, dashboard).First()));
  }
  return dashboard.panels;
}

const expressions = () => panels().flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr));

describe("the Grafana dashboard", () => {
  test("has panels with a title, a unit and the data source of one's choice", () => {
    expect(panels().length).toBeGreaterThan(20);
    const charts = panels().filter(({ type }) => type !== "row");
    for (const { title, datasource, fieldConfig, targets = [] } of charts) {
      const made = [datasource !== undefined, fieldConfig !== undefined, targets.length > 0];
      expect([title, ...made]).toEqual([title, true, true, true]);
    }
    expect(new Set(panels().map(({ id }) => id)).size).toBe(panels().length);
  });

  test("has no two panels in one place, and none beyond the edge", () => {
    const taken = new Set<string>();
    for (const { title, gridPos } of panels()) {
      expect([title, gridPos.x + gridPos.w <= 24]).toEqual([title, true]);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect([title, taken.has(`${x},${y}`)]).toEqual([title, false]);
          taken.add(`${x},${y}`);
        }
      }
    }
  });

  test("shows every metric that the server tells, and none that it does not", () => {
    expect([...namedIn(expressions().join("\n"))].sort()).toEqual(metrics.map(({ name }) => name).sort());
  });

  test("groups by labels that the metrics have", () => {
    const labels = new Set(["instance", "le", "job", ...metrics.flatMap((metric) => metric.labels)]);
    const grouped = [
      ...expressions()
        .join("\n")
        .matchAll(/\b(?:by|on) \(([^)]*)\)/g),
    ].flatMap(([, names = ""]) => names.split(/, */));
    expect(grouped.length).toBeGreaterThan(10);
    expect(grouped.filter((name) => !labels.has(name))).toEqual([]);
  });

  test.skipIf(promtool === null)("asks in PromQL", () => {
    using directory = temporaryDirectory();
    const rules = expressions().map((expr, index) => ({
      record: `panel_${index}`,
      expr: expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*"),
    }));
    const path = join(directory.path, "panels.json");
    writeFileSync(path, JSON.stringify({ groups: [{ name: "panels", rules }] }));
    const child = Bun.spawnSync([promtool ?? "", "check", "rules", path]);
    expect([child.exitCode, child.stderr.toString()]).toEqual([0, ""]);
  });
});

describe("the alerts", () => {
  test("ask for metrics that there are", () => {
    const told = new Set(metrics.map(({ name }) => name));
    const asked = [...alerts.matchAll(/expr: (?:\|\n((?: {10}.*\n)+)|(.*))/g)].flatMap(([, block, line]) => [
      ...namedIn(block ?? line ?? ""),
    ]);
    expect(asked.length).toBeGreaterThan(8);
    expect(asked.filter((name) => !told.has(name))).toEqual([]);
  });

  /** Series of the instance "a" by the minute, how long they have gone on, and which alerts fire then. */
  const cases: [string, Record<string, string>, number, string[]][] = [
    ["all is well", { 'up{job="transcribe"}': "1x120", transcribe_engine_ready: "1x120" }, 60, []],
    ["nobody answers", { 'up{job="transcribe"}': "0x120" }, 5, ["TranscribeDown"]],
    ["the worker is not ready", { transcribe_engine_ready: "0x120" }, 6, ["TranscribeTakesNoWork"]],
    ["the worker starts", { transcribe_engine_ready: "0x2 1x120" }, 6, []],
    [
      "the worker dies again and again",
      { 'transcribe_engine_worker_deaths_total{signal="SIGSEGV"}': "0 1 2 3 4x60" },
      30,
      ["TranscribeWorkerDies"],
    ],
    ["the worker died once", { 'transcribe_engine_worker_deaths_total{signal="SIGSEGV"}': "0 1x60" }, 30, []],
    [
      "recordings wait and nothing is done",
      {
        'transcribe_recordings_open{status="queued",priority="0"}': "3x120",
        'transcribe_step_seconds_total{step="transcribe",device="cpu"}': "7x120",
      },
      40,
      ["TranscribeStandsStill"],
    ],
    [
      "recordings wait while others are done",
      {
        'transcribe_recordings_open{status="queued",priority="0"}': "3x120",
        'transcribe_step_seconds_total{step="transcribe",device="cpu"}': "0+30x120",
      },
      40,
      [],
    ],
    [
      "a recording waits for room",
      { 'transcribe_recordings_stalled{trouble="disk_full"}': "1x60" },
      30,
      ["TranscribeRecordingsWait"],
    ],
    [
      "one has waited for three hours",
      { transcribe_queue_oldest_waiting_seconds: "10800x60" },
      30,
      ["TranscribeQueueIsLong"],
    ],
    [
      "recordings fail by our fault",
      { 'transcribe_recordings_ended_total{status="failed",reason="internal",cause="engine_crashed"}': "0+1x60" },
      20,
      ["TranscribeRecordingsFail"],
    ],
    [
      "links can't be fetched",
      { 'transcribe_recordings_ended_total{status="failed",reason="internal",cause="fetch_dns_failed"}': "0+1x60" },
      20,
      [],
    ],
    [
      "requests meet faults",
      { 'transcribe_http_refusals_total{code="internal_error"}': "0+1x60" },
      20,
      ["TranscribeServerErrors"],
    ],
    [
      "a folder is not mounted",
      { 'transcribe_folders_hindered{hindrance="unmarked"}': "1x60" },
      30,
      ["TranscribeFolderWaits"],
    ],
    ["a folder waits for a limit", { 'transcribe_folders_hindered{hindrance="audio"}': "1x60" }, 30, []],
    [
      "the object store has been out of order for an hour",
      { transcribe_audio_store_outage_seconds: "0+60x60" },
      30,
      ["TranscribeAudioStoreFails"],
    ],
    ["a webhook is paused", { transcribe_webhooks_paused: "1x120" }, 90, ["TranscribeWebhookPaused"]],
    [
      "no receiver accepts events",
      { 'transcribe_webhook_attempts_total{outcome="failed"}': "0+1x120" },
      90,
      ["TranscribeWebhookFails"],
    ],
    [
      "one of two receivers accepts events",
      {
        'transcribe_webhook_attempts_total{outcome="failed"}': "0+1x120",
        'transcribe_webhook_attempts_total{outcome="delivered"}': "0+1x120",
      },
      90,
      [],
    ],
    [
      "the disk is nearly full",
      { transcribe_disk_free_bytes: "5x120", transcribe_disk_size_bytes: "100x120" },
      60,
      ["TranscribeDiskFills"],
    ],
    ["the disk has room", { transcribe_disk_free_bytes: "50x120", transcribe_disk_size_bytes: "100x120" }, 60, []],
    [
      "the certificate ends in a day",
      { transcribe_tls_certificate_end_timestamp_seconds: "86400x120" },
      90,
      ["TranscribeCertificateEnds"],
    ],
    ["an audit entry waits", { transcribe_audit_oldest_pending_seconds: "60+60x60" }, 30, ["TranscribeAuditWaits"]],
    ["the audit log is forwarded", { transcribe_audit_oldest_pending_seconds: "5x60" }, 30, []],
    ["a server can't renew its lease", { transcribe_lease_remaining_seconds: "9 5 0x60" }, 30, ["TranscribeLeaseLapsed"]],
    ["a server renews its lease", { transcribe_lease_remaining_seconds: "9x60" }, 30, []],
    ["the broker of a fleet is away", { transcribe_fleet_broker_connected: "0x60" }, 30, ["TranscribeFleetBrokerDown"]],
    [
      "the network of a fleet is slow",
      { transcribe_fleet_broker_round_trip_seconds: "0.6x60" },
      30,
      ["TranscribeFleetSlowNetwork"],
    ],
    [
      "no standby follows a server",
      { transcribe_standby_unfollowed_seconds: "0+60x60" },
      30,
      ["TranscribeStandbyBehind"],
    ],
    ["a standby is far behind", { transcribe_standby_delay_seconds: "0+60x60" }, 30, ["TranscribeStandbyBehind"]],
    [
      "a standby was restarted, and is a little behind",
      { transcribe_standby_unfollowed_seconds: "0x10 60 0x60", transcribe_standby_delay_seconds: "0.2x60" },
      30,
      [],
    ],
    ["a fleet has no worker", { transcribe_fleet_broker_connected: "1x60" }, 30, ["TranscribeFleetHasNoWorker"]],
    [
      "one of two workers has a problem",
      {
        transcribe_fleet_broker_connected: "1x60",
        'transcribe_fleet_worker_lanes{machine="w1"}': "2x60",
        'transcribe_fleet_worker_lanes{machine="w2"}': "0x60",
      },
      30,
      ["TranscribeFleetWorkerUnusable"],
    ],
    [
      "workers leave parts unfinished",
      { transcribe_fleet_redelivered_total: "0+1x60" },
      30,
      ["TranscribeFleetRedelivers"],
    ],
    [
      "a worker fetches parts and does not report them",
      { transcribe_fleet_unreported_total: "0+1x60" },
      30,
      ["TranscribeFleetPartsUnreported"],
    ],
    [
      "no worker of a fleet takes parts",
      { transcribe_fleet_broker_connected: "1x60", 'transcribe_fleet_worker_lanes{machine="w1"}': "0x60" },
      30,
      ["TranscribeFleetHasNoWorker", "TranscribeFleetWorkerUnusable"],
    ],
    [
      "the fleet of another server has workers",
      { transcribe_fleet_broker_connected: "1x60", 'transcribe_fleet_worker_lanes{instance="b",machine="w1"}': "2x60" },
      30,
      ["TranscribeFleetHasNoWorker"],
    ],
    [
      "a fleet works",
      {
        transcribe_fleet_broker_connected: "1x60",
        transcribe_fleet_broker_round_trip_seconds: "0.002x60",
        'transcribe_fleet_worker_lanes{machine="w1"}': "2x60",
      },
      30,
      [],
    ],
    [
      "the broker of a fleet and its workers were restarted",
      {
        transcribe_fleet_broker_connected: "1x10 0 1x60",
        'transcribe_fleet_worker_lanes{machine="w1"}': "2x10 _x4 2x60",
      },
      17,
      [],
    ],
    ["a worker was restarted", { transcribe_fleet_redelivered_total: "0 2x60" }, 30, []],
    ["the certificate ends in a month", { transcribe_tls_certificate_end_timestamp_seconds: "2592000x120" }, 90, []],
  ];

  test.skipIf(promtool === null)("are valid rules, each once", () => {
    const child = Bun.spawnSync([promtool ?? "", "check", "rules", "--lint-fatal", alertsPath]);
    expect([child.exitCode, child.stderr.toString()]).toEqual([0, ""]);
  });

  test.skipIf(promtool === null)("fire when they should, and only then", () => {
    using directory = temporaryDirectory();
    const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);
    expect(names.toSorted()).toEqual([...new Set(cases.flatMap(([, , , fired]) => fired))].toSorted());
    const tests = cases.map(([name, series, minutes, fired]) => ({
      name,
      interval: "1m",
      input_series: Object.entries(series).map(([key, values]) => ({ series: ofInstance(key), values })),
      promql_expr_test: names.map((alert) => ({
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
        eval_time: `${minutes}m`,
        exp_samples: [{ labels: "{}", value: fired.includes(alert) ? 1 : 0 }],
      })),
    }));
    const path = join(directory.path, "alerts.test.json");
    writeFileSync(path, JSON.stringify({ rule_files: [alertsPath], evaluation_interval: "1m", tests }));
    const child = Bun.spawnSync([promtool ?? "", "test", "rules", path]);
    expect([child.exitCode, child.stdout.toString() + child.stderr.toString()]).toEqual([
      0,
      expect.stringContaining("SUCCESS"),
    ]);
  });
});
