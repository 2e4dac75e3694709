// In place of a script of another version, as a page may come from two versions during an upgrade. A page that has not
// started is loaded anew, once in ten seconds. An open page keeps what it shows: it gets a browser's error for no file.
if (
  document.querySelector(".not-loaded") &&
  Date.now() - Number(sessionStorage.getItem("atlasqueue-reloaded")) > 10_000
) {
  sessionStorage.setItem("atlasqueue-reloaded", String(Date.now()));
  location.reload();
}
throw new Error("Failed to fetch dynamically imported module: it is of another version");
