export { OverviewProvider, useOverview } from "./live-overview.tsx";
export { OverviewScreen } from "./overview-screen.tsx";
