import "./styles/index.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { startLive } from "./api/live.ts";
import { startSession, watchSession } from "./app/start-session.ts";
import { queries } from "./api/queries.ts";
import { noteMissingStyles } from "./components/lazy-part.tsx";
import { router } from "./router.tsx";

const place = document.getElementById("page");
if (!place) throw new Error("index.html has no #page");

noteMissingStyles();
startSession();
watchSession();
startLive();
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
