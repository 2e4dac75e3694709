import { createClient } from "@atlasqueue/client";
import { expect, test } from "vitest";
import { submitFlow } from "../submit-flow.ts";
import { visit, type Visit, type World } from "../world.ts";

/** Who may see and do what. */
export function accessTests(world: () => World): void {
  const signedIn = async (token: string, path: string): Promise<Visit> => {
    const found = await visit(world().browser, `${world().guarded.url}${path}`);
    await found.page.getByLabel("API token").fill(token);
    await found.page.getByRole("button", { name: "Sign in" }).click();
    return found;
  };

  const ofDashboard = { "content-type": "application/json", "x-atlasqueue-dashboard": "1" };
  /** Signs in with a request, not with the form, and notifies the browser's other tabs. */
  const signInFrom = (page: Visit["page"], token: string) => {
    const init = JSON.stringify({ method: "POST", headers: ofDashboard, body: JSON.stringify({ token }) });
    const told = `new BroadcastChannel("atlasqueue-session").postMessage("")`;
    return page.evaluate(`fetch("/v1/session", ${init}).then(() => ${told})`);
  };

  test("a wrong token is refused in words, and a right one opens the page it was asked at", async () => {
    const { token } = await world().token(["admin"]);
    const { page, context } = await signedIn(`${token.slice(0, -1)}0`, "/ui/settings");
    await page.getByText("This token is not valid").waitFor();
    await page.getByLabel("API token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Settings", exact: true }).waitFor();
    // The cookie is the browser's alone, and nothing of the token is kept in the page.
    const kept = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
    expect(kept).not.toContain(token.slice(0, 9));
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
  });

  test("a new token is shown once, and works", async () => {
    const { token } = await world().token(["admin"]);
    const { page } = await signedIn(token, "/ui/settings");
    await page.getByRole("button", { name: "New token" }).click();
    const form = page.getByRole("dialog", { name: "New token" });
    await form.getByLabel("Name").fill("nightly reports");
    await form.getByRole("button", { name: "Create token" }).click();
    const shown = await page.getByRole("region", { name: "Token" }).textContent();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("cell", { name: "nightly reports" }).waitFor();
    expect(await page.content()).not.toContain(shown ?? "?");
    const client = createClient({ url: world().guarded.url, token: shown ?? "" });
    expect(await client.queues()).toBeInstanceOf(Array);
  });

  test("with a token that only reads there is nothing to press", async () => {
    const { token } = await world().token(["read"]);
    const { page } = await signedIn(token, "/ui/queues");
    await page.getByRole("link", { name: "reports" }).click();
    await page.getByText("Concurrency", { exact: true }).waitFor();
    for (const name of ["Pause", "Set limits"]) expect(await page.getByRole("button", { name }).count(), name).toBe(0);
    await page.getByRole("link", { name: "Its jobs" }).click();
    await page.getByRole("table", { name: "Jobs" }).waitFor();
    expect(await page.getByRole("button", { name: "New job" }).count()).toBe(0);
    const flow = await submitFlow(world().open.client, [
      { ref: "a", step: "dies" },
      { ref: "b", step: "stays", after: ["a"], on_parent_failure: "wait" },
    ]);
    await page.goto(`${world().guarded.url}/ui/flows/${flow.id}`);
    await page.getByText("the remaining jobs depend on failed jobs").waitFor();
    for (const name of ["Cancel flow", "Retry what failed"])
      expect(await page.getByRole("button", { name }).count(), name).toBe(0);
    const reader = createClient({ url: world().guarded.url, token });
    await expect(reader.pause("reports")).rejects.toThrow("scope");
    await page.goto(`${world().guarded.url}/ui/activity`);
    await page.getByRole("row", { name: /127.0.0.1 Paused a queue refused reports/ }).waitFor();
  });

  test("another tab that signs in as somebody else tells this one, which then shows what that one may see", async () => {
    const reader = await world().token(["read"], "only reads");
    const admin = await world().token(["admin"], "may do all");
    const { page, context } = await signedIn(reader.token, "/ui/queues");
    await page.getByRole("link", { name: "reports" }).waitFor();
    expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
    const other = await context.newPage();
    await other.goto(`${world().guarded.url}/ui/queues`);
    await other.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
    await other.getByLabel("API token").fill(reader.token);
    await other.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "reports" }).waitFor();
    // Without a sign-out in between.
    await signInFrom(other, admin.token);
    await page.getByText("You're now signed in as may do all").waitFor();
    await page.getByRole("button", { name: "Pause" }).first().waitFor();
  });

  test("a question that is open when somebody else signs in is gone: it was about what the one before saw", async () => {
    const before = await world().token(["admin"], "before");
    const after = await world().token(["admin"], "after");
    const { page, context } = await signedIn(before.token, "/ui/queues/reports");
    await page.getByRole("button", { name: "Set limits" }).click();
    await page.getByRole("dialog").waitFor();
    const other = await context.newPage();
    await other.goto(`${world().guarded.url}/ui/queues`);
    await signInFrom(other, after.token);
    await page.getByText("You're now signed in as after").waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  test("a click before this tab knows that another one has signed in as somebody else does nothing in that one's name", async () => {
    const before = await world().token(["admin"], "clicks");
    const after = await world().token(["admin"], "knows nothing of it");
    const { page, context } = await signedIn(before.token, "/ui/queues/reports");
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
    // Nothing is asked for meanwhile that would tell.
    await page.keyboard.press("p");
    await page.getByTitle("Refreshing is paused (p)").waitFor();
    const signIn = { headers: ofDashboard, data: JSON.stringify({ token: after.token }) };
    const opened = await context.request.post(`${world().guarded.url}/v1/session`, signIn);
    expect(opened.status()).toBe(200);
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    // The banner may say the same of a refresh that was refused.
    await page.getByText("Could not pause the queue: Nothing was done: the browser is signed in with").waitFor();
    await page.getByText("You're now signed in as knows nothing of it").waitFor();
    const admin = createClient({ url: world().guarded.url, token: after.token });
    expect((await admin.queues()).find(({ queue }) => queue === "reports")?.paused).toBe(false);
  });

  test("signing out in a tab that does not know of another one's sign-in leaves that one signed in", async () => {
    const before = await world().token(["admin"], "signs out");
    const after = await world().token(["admin"], "stays");
    const { page, context } = await signedIn(before.token, "/ui/queues/reports");
    await page.getByTitle("Signed in with signs out").waitFor();
    await page.keyboard.press("p");
    await page.getByTitle("Refreshing is paused (p)").waitFor();
    const url = `${world().guarded.url}/v1/session`;
    // The page learns of it only after the click, also from a request that was under way.
    const clicked = Promise.withResolvers<void>();
    await page.route(url, async (route) => {
      if (route.request().method() === "GET") await clicked.promise;
      await route.continue();
    });
    await context.request.post(url, { headers: ofDashboard, data: JSON.stringify({ token: after.token }) });
    await page.getByTitle("Signed in with signs out").click();
    clicked.resolve();
    await page.getByText("You're now signed in as stays").waitFor();
    expect(await (await context.request.get(url)).json()).toMatchObject({ signed_in: true, token: { name: "stays" } });
  });

  test("when its token is revoked, the page asks for another one", async () => {
    const { token, id } = await world().token(["read"], "soon gone");
    const admin = createClient({ url: world().guarded.url, token: (await world().token(["admin"])).token });
    const { page } = await signedIn(token, "/ui/queues");
    await page.getByRole("link", { name: "reports" }).waitFor();
    await admin.tokens.revoke(id);
    await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
  });

  test("another site's page cannot act for someone who is signed in", async () => {
    const { token } = await world().token(["admin"]);
    const { url } = world().guarded;
    const { page, context } = await signedIn(token, "/ui/queues");
    await page.getByRole("link", { name: "reports" }).waitFor();
    const foreign = await context.newPage();
    const pause = `${url}/v1/queues/reports/pause`;
    // Another port of the same machine: the browser sends the cookie along.
    await foreign.route("http://127.0.0.1:1/", (route) =>
      route.fulfill({ contentType: "text/html", body: `<form method="post" action="${pause}"></form>` }),
    );
    const home = "http://127.0.0.1:1/";
    await foreign.goto(home);
    const headers = { "x-atlasqueue-dashboard": "1" };
    for (const options of [{ mode: "no-cors" }, { mode: "no-cors", headers }, { headers }]) {
      const init = JSON.stringify({ method: "POST", credentials: "include", ...options });
      await foreign.evaluate(`fetch(${JSON.stringify(pause)}, ${init}).catch(() => {})`);
    }
    const answer = foreign.waitForResponse(pause);
    await foreign.evaluate("document.forms[0].submit()");
    expect((await answer).status()).toBe(403);
    const admin = createClient({ url, token });
    expect((await admin.queues()).find(({ queue }) => queue === "reports")?.paused).toBe(false);
  });
}
