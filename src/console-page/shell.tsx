import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { AccountsScreen } from "./accounts/accounts-screen.tsx";
import { useOverview } from "./overview/live-overview.tsx";
import { OverviewScreen } from "./overview/overview-screen.tsx";
import { IconButton, Mark } from "./parts/index.ts";
import { RecordingScreen } from "./recording/recording-screen.tsx";
import { RecordingsScreen } from "./recordings/recordings-screen.tsx";
import { addressOf, everything, type Route, useRoute } from "./route.ts";
import { strings } from "./strings.ts";
import { UploadProvider } from "./upload/upload-provider.tsx";

/** Renders the frame of every screen: the navigation and the drop zone for files. */
export function Shell({ onLeave }: { onLeave: () => void }) {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const place = route.screen === "recording" ? route.id : route.screen;
  const shown = useRef(place);
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
    <UploadProvider>
      <button type="button" class="main skip" onClick={skip}>
        {strings.skip}
      </button>
      <header class="bar">
        <a class="name" href={addressOf({ screen: "overview" })}>
          <Mark /> {strings.product}
        </a>
        <Navigation route={route} />
        <Tools onLeave={onLeave} />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Screen key={place} route={route} />
      </main>
    </UploadProvider>
  );
}

function Navigation({ route }: { route: Route }) {
  const overview = useOverview();
  const inHand = (overview.value?.queue.queued ?? 0) + (overview.value?.queue.processing ?? 0);
  const link = (to: Route, children: ComponentChildren, isHere: boolean) => (
    <a href={addressOf(to)} aria-current={isHere ? "page" : undefined}>
      {children}
    </a>
  );
  return (
    <nav aria-label={strings.navigation}>
      {link({ screen: "overview" }, strings.overview.name, route.screen === "overview")}
      {link(
        { screen: "recordings", filter: everything },
        <>
          {strings.recordings.name}
          {inHand > 0 && (
            <span class="count">
              {inHand}
              <span class="unseen"> {strings.overview.inHand}</span>
            </span>
          )}
        </>,
        route.screen === "recordings" || route.screen === "recording",
      )}
      {link({ screen: "accounts" }, strings.accounts.name, route.screen === "accounts")}
    </nav>
  );
}

function Tools({ onLeave }: { onLeave: () => void }) {
  const [theme, nextTheme] = useTheme();
  return (
    <div class="tools">
      <IconButton icon={theme} label={strings.themes[theme]} onClick={nextTheme} />
      <button type="button" class="quiet" onClick={onLeave}>
        {strings.leave}
      </button>
    </div>
  );
}

function Screen({ route }: { route: Route }) {
  switch (route.screen) {
    case "overview":
      return <OverviewScreen />;
    case "accounts":
      return <AccountsScreen />;
    case "recordings":
      return <RecordingsScreen filter={route.filter} />;
    case "recording":
      return <RecordingScreen id={route.id} at={route.at} find={route.find} />;
  }
}

/** A colour theme; `auto` follows the system's setting. */
type Theme = "auto" | "light" | "dark";

const order: readonly Theme[] = ["auto", "light", "dark"];
const kept = "transcribe-console-theme";

/** Returns the theme chosen in this browser, and a function that selects the next theme. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(() => order.find((one) => one === localStorage.getItem(kept)) ?? "auto");
  useEffect(() => {
    if (theme === "auto") localStorage.removeItem(kept);
    else localStorage.setItem(kept, theme);
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  return [theme, () => setTheme((now) => order[(order.indexOf(now) + 1) % order.length] ?? "auto")];
}
