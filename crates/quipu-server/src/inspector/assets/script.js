// Keyboard control and conveniences. Every page works without this file.
"use strict";

const typing = (target) => target.closest("input, textarea, select, [contenteditable]") !== null;
const dialog = document.getElementById("keys");
for (const button of document.querySelectorAll("[data-open]")) {
  button.hidden = false;
  button.addEventListener("click", () => dialog.showModal());
}

// Lists that the keyboard moves through.
const stops = [...document.querySelectorAll("[data-stop]")];
let at = stops.findIndex((stop) => stop.classList.contains("at"));
const stopAt = (place) => {
  if (!stops.length) return;
  stops[at]?.classList.remove("at");
  at = Math.max(0, Math.min(stops.length - 1, place));
  const stop = stops[at];
  stop.classList.add("at");
  (stop.querySelector("[data-focus]") ?? stop).focus({ preventScroll: true });
  stop.scrollIntoView({ block: "nearest" });
};

const press = (key) => {
  const scope = stops[at] ?? document;
  const found = scope.querySelector(`[data-key="${key}"]`) ?? document.querySelector(`[data-key="${key}"]`);
  if (!found) return false;
  if (found.tagName === "DETAILS") {
    found.open = true;
    found.querySelector("input:not([type=hidden]), textarea")?.focus();
  } else found.click();
  return true;
};

let going = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog?.open) return;
  if (event.key === "Escape" && typing(event.target)) return event.target.blur();
  if (typing(event.target)) return;
  if (going) {
    going = false;
    const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  const key = event.key;
  if (key === "g") { going = true; setTimeout(() => { going = false; }, 1200); }
  else if (key === "/") { const ask = document.getElementById("ask"); if (ask) { event.preventDefault(); ask.focus(); ask.select(); } }
  else if (key === "?") dialog?.showModal();
  else if (key === "j") stopAt(at + 1);
  else if (key === "k") stopAt(at - 1);
  else if ("aedu".includes(key) && press(key)) event.preventDefault();
});

// Shows the version that a slider selects, and loads it when the slider is released.
for (const slider of document.querySelectorAll("[data-slider]")) {
  const output = slider.form.querySelector("output");
  slider.addEventListener("input", () => { output.textContent = `version ${slider.value}`; });
  slider.addEventListener("change", () => slider.form.requestSubmit());
}

// Copies the content of a box.
for (const box of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(box.querySelector("pre").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  box.querySelector(".copy-here").append(button);
}

// New events: a front page is loaded again in place; other pages offer to show what is new. A hidden page listens to
// nothing, since a browser keeps few connections to one server.
const live = document.body.dataset.live;
const fresh = document.querySelector("[data-refresh]");
let stream = null;
let seen = Number(live?.split("after=")[1] ?? 0);
const isBusy = () =>
  Boolean(document.activeElement?.closest("main [data-refresh], nav")) || fresh.querySelector("details[open]") !== null;
const refresh = async () => {
  const answer = await fetch(location.href);
  if (!answer.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of [fresh, document.getElementById("pages")]) {
    const next = page.getElementById(part.id);
    if (next) part.replaceChildren(...next.childNodes);
  }
};
const heard = () => {
  if (!fresh || isBusy()) document.getElementById("news").hidden = false;
  else refresh();
};
let soon = 0;
const listen = () => {
  if (document.hidden || stream) return;
  stream = new EventSource(live.replace(/after=.*/, `after=${seen}`));
  stream.addEventListener("version", (event) => {
    seen = Number(event.data);
    // Once for the versions of a moment, also while new ones keep coming.
    soon ||= setTimeout(() => { soon = 0; heard(); }, 400);
  });
};
if (live) {
  listen();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { stream?.close(); stream = null; } else listen();
  });
  addEventListener("pagehide", () => stream?.close());
}

// Ticks every row of a list.
for (const all of document.querySelectorAll("[data-all]")) {
  all.closest("label").hidden = false;
  all.addEventListener("change", () => {
    for (const one of all.form.querySelectorAll('input[name="item"]')) one.checked = all.checked;
  });
}

// Says that a file is too large before it is sent.
for (const file of document.querySelectorAll("[data-most]")) {
  file.addEventListener("change", () => {
    const over = file.files[0]?.size > Number(file.dataset.most);
    file.setCustomValidity(over ? "This file is too large: upload the conversations.json of the export by itself." : "");
    file.reportValidity();
  });
}
