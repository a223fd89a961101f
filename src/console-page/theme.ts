import { useEffect, useState } from "preact/hooks";

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
