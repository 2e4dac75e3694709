import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Link } from "@tanstack/react-router";
import { Shell } from "./app/shell.tsx";
import { base } from "./base.ts";
import { noteMissing } from "./components/lazy-part.tsx";
import { Empty, Failure, Loading } from "./components/states.tsx";
import { Page } from "./components/page.tsx";
import { readDeadFilter } from "./pages/dead/filter.ts";
import { readView } from "./pages/flow/view.ts";
import { readFlowsFilter } from "./pages/flows/filter.ts";
import { readJobsFilter } from "./pages/jobs/filter.ts";
import { Overview } from "./pages/overview/overview.tsx";
import { readOrder } from "./pages/queues/order.ts";
import { readWindow } from "./pages/overview/window.ts";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

/** Each page is its own file for the browser, fetched when it is first opened or pointed at. */
const routes = root.addChildren([
  createRoute({ getParentRoute: () => root, path: "/", component: Overview, validateSearch: readWindow }),
  createRoute({
    getParentRoute: () => root,
    path: "/ui/queues",
    component: lazyRouteComponent(() => import("./pages/queues/queues.tsx"), "Queues"),
    validateSearch: readOrder,
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ui/queues/$queue",
    component: lazyRouteComponent(() => import("./pages/queue/queue.tsx"), "QueuePage"),
    validateSearch: readWindow,
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ui/jobs",
    component: lazyRouteComponent(() => import("./pages/jobs/jobs.tsx"), "Jobs"),
    validateSearch: readJobsFilter,
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ui/jobs/$id",
    component: lazyRouteComponent(() => import("./pages/job/job.tsx"), "JobPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ui/flows",
    component: lazyRouteComponent(() => import("./pages/flows/flows.tsx"), "Flows"),
    validateSearch: readFlowsFilter,
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ui/flows/$id",
    component: lazyRouteComponent(() => import("./pages/flow/flow.tsx"), "FlowPage"),
    validateSearch: readView,
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ui/dead",
    component: lazyRouteComponent(() => import("./pages/dead/dead.tsx"), "Dead"),
    validateSearch: readDeadFilter,
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ui/schedules",
    component: lazyRouteComponent(() => import("./pages/schedules/schedules.tsx"), "Schedules"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ui/workers",
    component: lazyRouteComponent(() => import("./pages/workers/workers.tsx"), "Workers"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ui/activity",
    component: lazyRouteComponent(() => import("./pages/activity/activity.tsx"), "Activity"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ui/settings",
    component: lazyRouteComponent(() => import("./pages/settings/settings.tsx"), "Settings"),
  }),
]);

export const router = createRouter({
  routeTree: routes,
  basepath: new URL(base).pathname,
  defaultPreload: "intent",
  // The page of another job or queue is another page: what is open on it, such as a question, is about the one before.
  defaultRemountDeps: ({ params }) => params,
  scrollRestoration: true,
  defaultPendingComponent: Loading,
  // A page whose file is gone has reloaded by itself once.
  defaultOnCatch: noteMissing,
  defaultErrorComponent: ({ error }) => <Failure error={error} />,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

function NotFound() {
  return (
    <Page title="No such page">
      <Empty icon="search" title="There is no page here">
        <Link to="/">To the overview</Link>
      </Empty>
    </Page>
  );
}
