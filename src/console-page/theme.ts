import { useEffect, useState } from "preact/hooks";

/** `auto`: as the system has it. */
type Theme = "auto" | "light" | "dark";

const order: readonly Theme[] = ["auto", "light", "dark"];
const kept = "transcribe-console-theme";

/** The theme that is chosen in this browser, and what takes the next one. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(() => order.find((one) => one === localStorage.getItem(kept)) ?? "auto");
  useEffect(() => {
    if (theme === "auto") localStorage.removeItem(kept);
    else localStorage.setItem(kept, theme);
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  return [theme, () => setTheme((now) => order[(order.indexOf(now) + 1) % order.length] ?? "auto")];
}
