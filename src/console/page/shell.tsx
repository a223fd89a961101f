import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { AccountsScreen } from "./accounts/accounts-screen.tsx";
import { ReplacementsScreen } from "./accounts/replacements-screen.tsx";
import { VoicesScreen } from "./accounts/voices-screen.tsx";
import { WebhooksScreen } from "./accounts/webhooks-screen.tsx";
import { LiveProvider, useLive } from "./live/live-provider.tsx";
import { LiveScreen } from "./live/live-screen.tsx";
import { useOverview } from "./overview/live-overview.tsx";
import { OverviewScreen } from "./overview/overview-screen.tsx";
import { Button, IconButton, Logo } from "./parts/index.ts";
import { resumeCorrections, useUnfinished } from "./recording/editing/unfinished.ts";
import { RecordingScreen } from "./recording/recording-screen.tsx";
import { RecordingsScreen } from "./recordings/recordings-screen.tsx";
import { addressOf, everything, type Route, recordingAddress, useRoute } from "./route.ts";
import { useViewer, type Viewer } from "./session.tsx";
import { strings } from "./strings.ts";
import { UploadProvider } from "./upload/upload-provider.tsx";

/** Renders the frame of every screen: the navigation and the drop zone for files. */
export function Shell({ onSignOut }: { onSignOut: () => void }) {
  const { isOperator, mayGoLive, owner } = useViewer();
  useEffect(() => resumeCorrections(owner), [owner]);
  const route = visibleRoute(useRoute(), { isOperator, mayGoLive });
  const main = useRef<HTMLElement>(null);
  const place = route.screen === "recording" ? route.id : route.screen;
  const shown = useRef(place);
  const unsaved = useUnfinished(owner, route.screen === "recording" ? route.id : null);
  useLayoutEffect(() => {
    // Moves the focus to the new screen, so that screen readers and the keyboard start there.
    if (shown.current !== place) {
      scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
    shown.current = place;
  }, [place]);
  const skip = () => {
    main.current?.focus();
    main.current?.scrollIntoView();
  };
  return (
    <LiveProvider>
      <UploadProvider>
        <button type="button" class="main skip" onClick={skip}>
          {strings.skip}
        </button>
        <header class="bar">
          <a class="name" href={addressOf(homeOf(isOperator))}>
            <Logo /> {strings.product}
          </a>
          <Navigation route={route} />
          <Tools onSignOut={onSignOut} />
        </header>
        <div class="unfinished problem" role="status">
          {unsaved.map(({ recording, conflicts }) => (
            <p key={recording.id}>
              {conflicts.length > 0 ? strings.editing.toChoose : strings.editing.unfinished}{" "}
              <a href={recordingAddress(recording.id)}>
                <bdi>{recording.name}</bdi>
              </a>
            </p>
          ))}
        </div>
        <main id="main" ref={main} tabIndex={-1}>
          <Screen key={place} route={route} />
        </main>
      </UploadProvider>
    </LiveProvider>
  );
}

/** Returns the first screen of a person. */
function homeOf(isOperator: boolean): Route {
  return isOperator ? { screen: "overview" } : { screen: "recordings", filter: everything };
}

/** Returns the route that is shown: people who are no operators have no overview and no accounts. */
function visibleRoute(route: Route, { isOperator, mayGoLive }: Pick<Viewer, "isOperator" | "mayGoLive">): Route {
  if (route.screen === "live") return mayGoLive ? route : homeOf(isOperator);
  return isOperator || route.screen === "recordings" || route.screen === "recording" ? route : homeOf(isOperator);
}

function Navigation({ route }: { route: Route }) {
  const { isOperator, mayGoLive } = useViewer();
  const { state } = useLive();
  const isLive = state !== null && state.phase !== "ended";
  const queue = useOverview().value?.queue;
  const open = queue === undefined ? 0 : queue.queued + queue.processing;
  const link = (to: Route, children: ComponentChildren, isHere: boolean) => (
    <a href={addressOf(to)} aria-current={isHere ? "page" : undefined}>
      {children}
    </a>
  );
  return (
    <nav aria-label={strings.navigation}>
      {isOperator && link({ screen: "overview" }, strings.overview.name, route.screen === "overview")}
      {link(
        { screen: "recordings", filter: everything },
        <>
          {strings.recordings.name}
          {open > 0 && (
            <span class="count">
              {open}
              <span class="unseen"> {strings.overview.open}</span>
            </span>
          )}
        </>,
        route.screen === "recordings" || route.screen === "recording",
      )}
      {mayGoLive &&
        link(
          { screen: "live" },
          <>
            {strings.live.name}
            {isLive && (
              <span class="live-dot">
                <span class="unseen">{strings.live.running}</span>
              </span>
            )}
          </>,
          route.screen === "live",
        )}
      {isOperator &&
        link(
          { screen: "accounts" },
          strings.accounts.name,
          ["accounts", "voices", "webhooks", "replacements"].includes(route.screen),
        )}
    </nav>
  );
}

function Tools({ onSignOut }: { onSignOut: () => void }) {
  const [theme, nextTheme] = useTheme();
  const { user } = useViewer();
  return (
    <div class="tools">
      {user !== null && (
        <bdi class="soft person" title={user.email ?? user.name}>
          <span class="unseen">{strings.signedInAs} </span>
          {user.name}
        </bdi>
      )}
      <IconButton icon={theme} label={strings.themes[theme]} onClick={nextTheme} />
      <Button text={strings.signOut} onClick={onSignOut} />
    </div>
  );
}

function Screen({ route }: { route: Route }) {
  switch (route.screen) {
    case "overview":
      return <OverviewScreen />;
    case "live":
      return <LiveScreen />;
    case "accounts":
      return <AccountsScreen />;
    case "voices":
      return <VoicesScreen account={route.account} />;
    case "replacements":
      return <ReplacementsScreen account={route.account} />;
    case "webhooks":
      return <WebhooksScreen account={route.account} />;
    case "recordings":
      return <RecordingsScreen filter={route.filter} />;
    case "recording":
      return <RecordingScreen id={route.id} at={route.at} find={route.find} />;
  }
}

/** A colour theme; `auto` follows the system's setting. */
type Theme = "auto" | "light" | "dark";

const themes: readonly Theme[] = ["auto", "light", "dark"];
const STORAGE_KEY = "transcribe-console-theme";

/** Returns the theme chosen in this browser, and a function that selects the next theme. */
function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(
    () => themes.find((each) => each === localStorage.getItem(STORAGE_KEY)) ?? "auto",
  );
  useEffect(() => {
    if (theme === "auto") localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, theme);
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  return [theme, () => setTheme((now) => themes[(themes.indexOf(now) + 1) % themes.length] ?? "auto")];
}
