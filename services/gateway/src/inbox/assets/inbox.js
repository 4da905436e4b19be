// Keeps an open page current and adds keys. Every page works without it.
"use strict";

(() => {
  const REFRESH_DELAY_MS = 250;
  const REFRESH_SPREAD_MS = 500;
  const RECONNECT_DELAY_MS = 5000;
  const TICK_MS = 15000;
  const SOON_MS = 60 * 60 * 1000;
  const TOAST_MS = 6000;

  const status = document.getElementById("status");
  const main = () => document.getElementById("main");
  const page = () => main()?.dataset.page;
  document.documentElement.classList.add("scripted");

  // Times: the same words as the server's.

  const MINUTE = 60000;
  const HOUR = 60 * MINUTE;
  const DAY = 24 * HOUR;
  const date = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
  const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

  const ago = (then, passed) => {
    if (passed < 45000) return "just now";
    if (passed < HOUR) return `${Math.max(1, Math.floor(passed / MINUTE))} min ago`;
    if (passed < DAY) return `${Math.floor(passed / HOUR)} h ago`;
    if (passed < 2 * DAY) return "yesterday";
    return passed < 7 * DAY ? `${Math.floor(passed / DAY)} days ago` : date.format(then);
  };

  const until = (remaining) => {
    if (remaining <= 0) return "now";
    if (remaining < MINUTE) return "in less than a minute";
    if (remaining < HOUR) return `in ${Math.floor(remaining / MINUTE)} min`;
    if (remaining < 2 * DAY) return `in ${Math.floor(remaining / HOUR)} h`;
    return `in ${Math.floor(remaining / DAY)} days`;
  };

  const spoken = {
    past: (then, now) => ago(then, now - then),
    due: (then, now) => until(then - now),
    left: (then, now) => `expires ${until(then - now)}`,
  };

  // Moments at which a page looked again already, as they are written: this clock may be ahead of the hub's.
  const passed = new Set();

  const tick = () => {
    const now = Date.now();
    for (const time of document.querySelectorAll("time[data-tense]")) {
      const then = Date.parse(time.dateTime);
      if (Number.isNaN(then)) continue;
      const words = spoken[time.dataset.tense](then, now);
      if (time.textContent !== words) time.textContent = words;
      time.title = exact.format(then);
      time.closest(".expiry")?.classList.toggle("soon", then - now < SOON_MS);
      // The hub ends it at that moment; then the page is about something else.
      if (time.dataset.tense === "left" && then <= now && !passed.has(time.dateTime)) {
        passed.add(time.dateTime);
        refreshSoon();
      }
    }
    // Nobody tells when an agent falls silent.
    for (const mark of document.querySelectorAll("[data-lapses]")) {
      mark.lapsesAt ??= performance.now() + 1000 * Number(mark.dataset.lapses);
      if (performance.now() < mark.lapsesAt) continue;
      mark.lapsesAt = Infinity;
      refreshSoon();
    }
  };

  // What is said to the person.

  let toastTimer;
  const say = (text, action) => {
    clearTimeout(toastTimer);
    status.textContent = text;
    if (action) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = action.label;
      button.addEventListener("click", action.run);
      status.append(button);
    } else {
      toastTimer = setTimeout(() => (status.textContent = ""), TOAST_MS);
    }
  };

  // Refreshing: the same page again, its <main> put in place of this one.

  let dirty = false;
  let due;
  let running = false;
  let stale = false;
  let signedOut = false;

  const isBusy = () => {
    const focused = document.activeElement;
    const writing = focused?.matches("input:not([type=hidden]), textarea, select") && main().contains(focused);
    return dirty || writing || !getSelection().isCollapsed;
  };

  const refreshSoon = () => {
    if (document.hidden) {
      stale = true;
      return;
    }
    if (due) return;
    // Spread, so that many open pages do not ask in the same moment.
    due = setTimeout(refresh, REFRESH_DELAY_MS + Math.random() * REFRESH_SPREAD_MS);
  };

  const refresh = async () => {
    due = undefined;
    if (running || !page()) {
      stale = running;
      return;
    }
    running = true;
    stale = false;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" });
      if (answer.redirected && new URL(answer.url).pathname === "/inbox/sign-in") {
        signedOut = true;
        say("You are signed out.", { label: "Sign in", run: () => location.reload() });
        return;
      }
      if (!answer.ok) return;
      take(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      // The network is gone for now; the stream comes back with it and says so.
    } finally {
      running = false;
      if (stale) refreshSoon();
    }
  };

  const take = (fresh) => {
    const next = fresh.getElementById("main");
    if (!next || next.dataset.page !== page()) return;
    if (isBusy()) {
      renew(next);
      if (next.dataset.status === main().dataset.status) {
        // Nothing that matters for what is being written; look again once it is done.
        pending = true;
      } else {
        say("This changed while you were writing.", { label: "Show it", run: () => location.assign(location.pathname) });
      }
      return;
    }
    pending = false;
    // What somebody is about to press stays where it is.
    if (frame(next) === made) renew(next);
    else swap(next);
  };

  // Parts that hold nothing of the person's are put in place also while she writes.
  const renew = (next) => {
    for (const part of main().querySelectorAll("[data-part]")) {
      const fresh = next.querySelector(`[data-part="${CSS.escape(part.dataset.part)}"]`);
      if (!fresh || part.contains(document.activeElement)) continue;
      for (const { id } of part.querySelectorAll("details[open][id]")) fresh.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", "");
      part.replaceWith(document.importNode(fresh, true));
    }
    tick();
  };

  let pending = false;
  const settle = () => {
    if (pending && !isBusy()) refreshSoon();
  };

  // A page as the server made it, without its parts.
  const frame = (root) => {
    const copy = root.cloneNode(true);
    for (const part of copy.querySelectorAll("[data-part]")) part.remove();
    return copy.innerHTML;
  };
  let made = main() && frame(main());

  const swap = (next) => {
    made = frame(next);
    const known = new Set(keys(main()));
    const focused = document.activeElement?.id;
    const row = document.activeElement?.matches("[data-row]") && document.activeElement.closest("[data-key]")?.dataset.key;
    const open = [...main().querySelectorAll("details[open][id]")].map((details) => details.id);
    const from = main().dataset.status;
    main().replaceWith(document.adoptNode(next));
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    if (row) main().querySelector(`[data-key="${CSS.escape(row)}"] [data-row]`)?.focus({ preventScroll: true });
    prepare();
    if (page() === "list") announce(known);
    if (next.dataset.news && from !== next.dataset.status) say(next.dataset.news);
  };

  const keys = (root) => [...root.querySelectorAll("[data-key]")].map((row) => row.dataset.key);

  const announce = (known) => {
    const first = main().querySelector("[data-key]")?.dataset.key;
    const fresh = keys(main()).filter((key) => !known.has(key));
    // Rows that moved up from the page behind are not news.
    if (!fresh.includes(first)) return;
    const news = [];
    for (const key of keys(main())) {
      if (known.has(key)) break;
      news.push(key);
    }
    for (const key of news) main().querySelector(`[data-key="${CSS.escape(key)}"]`).classList.add("fresh");
    say(news.length === 1 ? "1 new message" : `${news.length} new messages`);
  };

  // The stream tells only that something happened; a page looks again where it is about that.

  const ABOUT = {
    list: ["message.created", "message.resolved"],
    message: ["message.resolved", "delivery.updated", "presence.updated"],
    directives: ["directive.updated"],
    directive: ["directive.updated", "presence.updated"],
    agents: ["directive.updated", "presence.updated"],
    agent: ["directive.updated", "presence.updated"],
    compose: ["presence.updated"],
    broadcasts: ["directive.updated"],
    broadcast: ["directive.updated", "presence.updated"],
    broadcasting: [],
  };
  const EVENTS = new Set(["resync", ...Object.values(ABOUT).flat()]);

  const listen = () => {
    const stream = new EventSource("/v1/stream");
    for (const name of EVENTS) {
      // The first word after connecting is `resync`: what happened since this page was made was told to nobody.
      stream.addEventListener(name, (event) => {
        if (concerns(event)) refreshSoon();
      });
    }
    stream.addEventListener("error", () => {
      // Otherwise the browser itself connects again.
      if (stream.readyState !== EventSource.CLOSED) return;
      refreshSoon();
      setTimeout(() => signedOut || listen(), RECONNECT_DELAY_MS * (1 + Math.random()));
    });
    addEventListener("pagehide", () => stream.close(), { once: true });
  };

  const concerns = (event) => {
    if (event.type === "resync") return true;
    if (!ABOUT[page()]?.includes(event.type)) return false;
    const { shows, agent } = main().dataset;
    const only = event.type === "presence.updated" ? agent : shows;
    try {
      const id = JSON.parse(event.data).id;
      return !only || !id || id === only;
    } catch {
      return true;
    }
  };

  // Forms.

  const prepare = () => {
    // A form that came back with what was typed holds work as well.
    dirty = document.querySelector("form[data-draft]")?.dataset.kept !== undefined;
    tick();
  };

  document.addEventListener("input", (event) => {
    if (event.target.form?.matches("[data-draft]")) dirty = true;
    const picks = event.target.dataset?.picks;
    if (picks && event.target.value.trim()) document.getElementById(picks).checked = true;
  });

  document.addEventListener("change", (event) => {
    if (event.target.id === "choice-other") document.getElementById("free")?.focus();
  });

  document.addEventListener("submit", (event) => {
    if (event.target.dataset.sent) {
      event.preventDefault();
      return;
    }
    if (event.target.method === "post") event.target.dataset.sent = "yes";
  });

  // A page that comes back from the browser's memory is used again.
  addEventListener("pageshow", (event) => {
    for (const form of document.forms) delete form.dataset.sent;
    if (!event.persisted) return;
    refreshSoon();
    if ("live" in document.body.dataset) listen();
  });

  document.addEventListener("focusout", () => setTimeout(settle));
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || !stale) return;
    stale = false;
    refreshSoon();
  });

  // Keys.

  const rows = () => [...document.querySelectorAll("[data-row]")];

  const move = (by) => {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(document.activeElement);
    const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by));
    all[next].focus();
    all[next].closest(".row").scrollIntoView({ block: "nearest" });
  };

  const inList = {
    j: () => move(1),
    ArrowDown: () => move(1),
    k: () => move(-1),
    ArrowUp: () => move(-1),
    "/": () => document.getElementById("q")?.focus(),
  };
  const anywhere = { u: () => document.querySelector("[data-back]")?.click() };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("input, textarea, select, [contenteditable], pre")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const isList = main()?.classList.contains("list") || rows().length > 0;
    const action = (isList && inList[event.key]) || anywhere[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  prepare();
  setInterval(tick, TICK_MS);
  if ("live" in document.body.dataset) listen();
})();
