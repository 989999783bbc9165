// What the pages of the sites do by themselves, told by attributes. `browsing/behaviours.py` does the same without a
// browser; its first lines say what the attributes mean.
(() => {
  const PAUSE = 800;  // milliseconds until late content is asked for; an agent's browser counts its actions instead
  const root = document.documentElement;
  const having = (name) => [...document.querySelectorAll(`[data-${name}]`)];
  const named = (name) => document.getElementById(name);
  const opened = (name) => having(name).filter((panel) => !panel.hidden);
  const later = (work) => window.agentrlTurns
    ? document.addEventListener("agentrl:turn", work, {once: true}) : setTimeout(work, PAUSE);
  let loading = 0, grip = null;

  const edited = () => root.setAttribute("data-edited", "");

  function show(panel, shown) {
    if (!panel || panel.hidden !== shown) return;
    if (!shown && panel.contains(document.activeElement)) document.activeElement.blur();
    panel.hidden = !shown;
    edited();
  }

  // Fetch a page and let `use` take parts of it; the mark tells whoever waits that more is to come.
  async function fetched(address, use) {
    loading += 1;
    root.setAttribute("data-loading", "");
    try {
      const answer = await fetch(address, {credentials: "same-origin"});
      if (answer.ok) use(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch { /* the page stays as it is */ }
    loading -= 1;
    if (!loading) root.removeAttribute("data-loading");
  }

  // Elements of another page in the place of those with the same ids.
  function replace(names, page) {
    for (const name of names.split(" ")) {
      const target = named(name), found = page.getElementById(name);
      if (!target || !found) continue;
      target.replaceWith(document.importNode(found, true));
      edited();
    }
    load();
  }

  function append(sentinel, page) {
    const list = named(sentinel.dataset.more), more = page.getElementById(sentinel.dataset.more);
    if (!list || !more || !sentinel.isConnected) return;
    for (const child of [...more.children]) list.append(document.importNode(child, true));
    const next = page.querySelector("[data-more]");
    if (next) sentinel.replaceWith(document.importNode(next, true)); else sentinel.remove();
    edited();
  }

  function load() {
    for (const target of having("late")) {
      if (target.agentrlAsked) continue;
      target.agentrlAsked = true;
      later(() => fetched(target.dataset.late, (page) => replace(target.id, page)));
    }
  }

  function point(target) {
    for (const place of having("hover")) show(named(place.dataset.hover), place.contains(target));
  }

  function closeOthers(target) {
    for (const panel of opened("popup")) {
      const opener = target.closest(`[data-opens="${panel.id}"]`);
      if (!panel.contains(target) && !opener) show(panel, false);
    }
  }

  function tab(trigger) {
    for (const other of [...trigger.parentElement.children].filter((child) => child.dataset.tab)) {
      other.classList.toggle("here", other === trigger);
      show(named(other.dataset.tab), other === trigger);
    }
    edited();
  }

  function pick(trigger) {
    const field = named(trigger.dataset.pick);
    if (!field) return;
    field.value = trigger.dataset.value;
    const panel = trigger.closest("[data-popup],[data-modal]");
    show(panel, false);
  }

  function click(event) {
    closeOthers(event.target);
    const trigger = event.target.closest("[data-opens],[data-closes],[data-tab],[data-swap],[data-pick]");
    if (!trigger || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const {opens, tab: tabbed, swap, pick: picked} = trigger.dataset;
    if (opens) show(named(opens), named(opens)?.hidden);
    else if (tabbed) tab(trigger);
    else if (swap) fetched(trigger.getAttribute("href"), (page) => replace(swap, page));
    else if (picked) pick(trigger);
    else show(trigger.closest("[data-popup],[data-modal]"), false);
  }

  function type(event) {
    const list = named(event.target.dataset.filter);
    if (!list) return;
    const wanted = event.target.value.trim().toLowerCase();
    for (const child of list.children) show(child, child.textContent.toLowerCase().includes(wanted));
  }

  function scrolled() {
    for (const sentinel of having("more")) {
      const link = sentinel.querySelector("a[href]"), place = sentinel.getBoundingClientRect();
      if (!link || sentinel.agentrlAsked || place.top >= innerHeight || !place.height) continue;
      sentinel.agentrlAsked = true;
      fetched(link.getAttribute("href"), (page) => append(sentinel, page));
    }
  }

  // Ask for what is at a place, or what a drag leads to, and show it.
  const at = (place, fields) => fetched(`${place.dataset.at}&${fields}`, (page) => replace(place.dataset.moves, page));

  addEventListener("mousemove", (event) => point(event.target), true);
  addEventListener("click", click, true);
  addEventListener("input", type, true);
  addEventListener("scroll", scrolled, true);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") show([...document.querySelectorAll("[data-popup],[data-modal]")]
      .filter((panel) => !panel.hidden).pop(), false);
  }, true);
  addEventListener("contextmenu", (event) => {
    const place = event.target.closest("[data-at]");
    if (!place) return;
    event.preventDefault();
    const corner = place.getBoundingClientRect();
    at(place, `x=${Math.floor(event.clientX - corner.left)}&y=${Math.floor(event.clientY - corner.top)}`);
  }, true);
  addEventListener("mousedown", (event) => {
    const place = event.target.closest("[data-at]");
    if (place && event.button === 0 && !event.target.closest("a,button"))
      grip = [place, event.clientX, event.clientY];
  }, true);
  addEventListener("mouseup", (event) => {
    const held = grip;
    grip = null;
    if (!held) return;
    const dx = Math.round(event.clientX - held[1]), dy = Math.round(event.clientY - held[2]);
    if (dx || dy) at(held[0], `dx=${dx}&dy=${dy}`);
  }, true);
  load();
})();
