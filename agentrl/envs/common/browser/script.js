// What an agent's browser asks of a page. Runs in a JavaScript world of its own, where the page's scripts cannot reach.
globalThis.agentrl = (() => {
  const CLICKABLE = "input,textarea,select,button,a,iframe,video,object,embed";
  const CONTROLS = "input,select,textarea,button";
  const ROLES = new Set(["button", "tab", "link", "checkbox", "menuitem", "menuitemcheckbox", "menuitemradio", "radio"]);
  const BUTTONS = new Set(["submit", "button", "reset", "image"]);
  const MAX_COUNT = 40000;  // elements; of larger pages only what is near the viewport is read
  const MAX_TEXT = 4000000;  // characters of a page
  let elements = [];  // of the last reading, in document order: the number of an element is its place

  const isControl = (element) => element.matches("input,textarea,select")
    && element.type !== "hidden" && !(element.localName === "input" && BUTTONS.has(element.type));
  const isCheck = (element) => element.type === "checkbox" || element.type === "radio";

  function looksClickable(element, pointer) {
    if (pointer && !(element.parentElement && getComputedStyle(element.parentElement).cursor === "pointer")) return true;
    if (element.matches(CLICKABLE) || element.localName === "summary" || element.hasAttribute("onclick") || element.isContentEditable
      && !(element.parentElement && element.parentElement.isContentEditable)) return true;
    if (element.localName === "label") return element.control !== null && !element.control.disabled;
    if (element.localName === "img" && element.hasAttribute("usemap")) return true;
    if (ROLES.has((element.getAttribute("role") || "").trim().toLowerCase())) return true;
    if (/^[0-9]+$/.test((element.getAttribute("tabindex") || "").trim())) return true;
    return /button/i.test(element.getAttribute("class") || "");
  }

  // The same as WebRL's script has it (after Vimium): a hand counts wherever it comes from.
  function seemsClickable(element) {
    const style = getComputedStyle(element), name = element.localName, given = (key) => element.getAttribute(key);
    if (element.hasAttribute("onclick") || style.cursor === "pointer") return true;
    if (name === "img" && given("usemap")
      && document.querySelector(`map[name="${CSS.escape(given("usemap").replace(/^#/, ""))}"]`)) return true;
    if (given("role") !== null && ROLES.has(given("role").toLowerCase())) return true;
    if (["", "contenteditable", "true"].includes((given("contenteditable") ?? "no").toLowerCase())) return true;
    if ((given("jsaction") || "").split(";").some(isClickRule)) return true;
    if (element.matches(CLICKABLE) || name === "details") return true;
    if (name === "label" && element.control && !element.control.disabled) return true;
    if (name === "img" && ["zoom-in", "zoom-out"].includes(element.style.cursor)) return true;
    return /button/i.test(given("class") || "") || parseInt(given("tabindex")) >= 0;
  }

  // "click:namespace.action", the way Google's pages name their handlers.
  function isClickRule(rule) {
    const parts = rule.trim().split(":");
    if (parts.length > 2) return false;
    const [space, action = "_"] = [...parts.at(-1).trim().split("."), "_"];
    return (parts.length === 1 || parts[0] === "click") && space !== "none" && action !== "_";
  }

  // How much of an element can be seen: of the boxes whose middle shows it, what lies in the viewport.
  function area(element) {
    let sum = 0;
    for (const rect of element.getClientRects()) {
      const found = document.elementFromPoint(rect.left + rect.width / 2, rect.top + rect.height / 2);
      const seen = inViewport(rect);
      if (found && element.contains(found)) sum += seen.width * seen.height;
    }
    return sum;
  }

  const inViewport = (rect) => ({
    width: Math.min(innerWidth, rect.right) - Math.max(0, rect.left),
    height: Math.min(innerHeight, rect.bottom) - Math.max(0, rect.top),
  });

  function innermost(rects, handled) {
    const seems = (number) => handled.has(number) || seemsClickable(elements[number]);
    const found = elements.map((element, number) => number)
      .filter((number) => rects[number] && seems(number) && area(elements[number]) >= 1);
    return outermostLeftOut(found).filter((number) => {
      const seen = inViewport(rects[number]);
      return seen.width > 0 || seen.height > 0;
    });
  }

  // Of clickable elements within each other, the innermost one counts.
  const outermostLeftOut = (found) => found.filter((number, place) =>
    place + 1 >= found.length || !elements[number].contains(elements[found[place + 1]]));

  // The first box of an element, on whatever line, whose middle is in the viewport and not covered by others.
  const sight = (element) => [...element.getClientRects()].find((rect) => isHit(element, rect));

  function isHit(element, rect) {
    if (Math.round(rect.width) < 1 || Math.round(rect.height) < 1) return false;
    const x = rect.left + rect.width / 2, y = rect.top + rect.height / 2;
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
    let found = document.elementFromPoint(x, y);
    while (found && found.shadowRoot && found !== element) {
      const inner = found.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === found) break;
      found = inner;
    }
    for (let node = found; node; node = node.parentNode || node.host) if (node === element) return true;
    return false;
  }

  function labelled(rects) {
    const found = [];
    elements.forEach((element, number) => {
      const rect = rects[number];
      if (!rect || !(element instanceof HTMLElement || element instanceof SVGElement)) return;
      if (rect.top > innerHeight) return;
      const style = getComputedStyle(element);
      if (style.visibility === "visible" && looksClickable(element, style.cursor === "pointer")
        && sight(element)) found.push(number);
    });
    return outermostLeftOut(found);
  }

  const chosen = (select, property) => [...select.options]
    .map((option, number) => option[property] ? number : -1).filter((number) => number >= 0).join(",");

  // What a control holds, or null if that is what the HTML says.
  function changed(element) {
    if (isCheck(element)) return element.checked === element.defaultChecked ? null : element.checked ? "on" : "";
    if (element.localName === "select") {
      const now = chosen(element, "selected");
      let initially = chosen(element, "defaultSelected");
      if (!element.multiple) {
        if (initially) initially = initially.split(",").pop();
        else initially = String([...element.options].findIndex((option) => !option.disabled)).replace("-1", "");
      }
      return now === initially ? null : now;
    }
    return element.value === element.defaultValue ? null : element.value;
  }

  const value = (element) => isCheck(element) ? (element.checked ? "on" : "") : element.value;

  // A copy in a document without scripts and pictures, where the elements carry their numbers.
  function numbered(rects) {
    const copy = document.implementation.createHTMLDocument().importNode(document.documentElement, true);
    const copies = [copy, ...copy.querySelectorAll("*")];
    copies.forEach((element, number) => element.setAttribute("data-agentrl-n", number));
    if (elements.length > MAX_COUNT) {
      elements.forEach((element, number) => {
        const rect = rects[number];
        const far = rect && (rect.bottom < -innerHeight || rect.top > 2 * innerHeight);
        if (far || (!rect && number > MAX_COUNT)) copies[number].remove();
      });
    }
    return copy.outerHTML.length > MAX_TEXT ? shortened(copy).outerHTML : copy.outerHTML;
  }

  // All windows share the way to this page: megabytes of text would delay them.
  function shortened(copy) {
    let left = MAX_TEXT;
    const texts = copy.ownerDocument.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      if (texts.currentNode.data.length > left) texts.currentNode.data = texts.currentNode.data.slice(0, left);
      left -= texts.currentNode.data.length;
    }
    return copy;
  }

  // Left, top, width and height; the edges are rounded, as WebRL's script does.
  function box(rect) {
    const left = Math.round(rect.left), top = Math.round(rect.top);
    return [left, top, Math.round(rect.right) - left, Math.round(rect.bottom) - top];
  }

  const boxes = (rects) => rects.flatMap((rect, number) => rect ? [number, ...box(rect)] : []);

  // Where elements go on: their boxes on later lines.
  const further = (numbers) => numbers.map((number) => [number, [...elements[number].getClientRects()].slice(1).map(box)])
    .filter(([, lines]) => lines.length);

  async function read(rule, handlers) {
    if (document.fonts.status !== "loaded") await document.fonts.ready;
    const root = document.documentElement;
    if (!root) return null;
    elements = [root, ...root.querySelectorAll("*")];
    const rects = elements.map((element) => element.getClientRects()[0]);
    const controls = elements.map((element, number) => [number, element]).filter(([, element]) => isControl(element));
    const labels = rule === "innermost" ? innermost(rects, new Set(handlers)) : labelled(rects);
    return {
      html: numbered(rects),
      boxes: boxes(rects),
      labels,
      further: further(labels),
      values: controls.map(([number, element]) => [number, value(element)]),
      ...state(), changed: held(),
      url: location.href,
      title: document.title,
      height: (document.scrollingElement || root).scrollHeight,
    };
  }

  // What a user has done to the page, beside the contents of its fields.
  function state() {
    const active = document.activeElement;
    const focus = active && active !== document.body ? elements.indexOf(active) : -1;
    const text = focus >= 0 && typeof active.selectionStart === "number";
    return {
      scroll: Math.round(scrollY),
      focus: focus >= 0 ? focus : null,
      selected: text && active.value.length > 0 && active.selectionStart === 0
        && active.selectionEnd === active.value.length,
      opened: elements.map((element, number) => element.localName === "details" && element.open ? number : -1)
        .filter((number) => number >= 0),
    };
  }

  function announce(element) {
    element.dispatchEvent(new Event("input", {bubbles: true, composed: true}));
    element.dispatchEvent(new Event("change", {bubbles: true}));
  }

  function hold(element, text) {
    if (isCheck(element)) element.checked = text === "on";
    else if (element.localName === "select") {
      const numbers = new Set(text.split(",").filter(Boolean).map(Number));
      [...element.options].forEach((option, number) => { option.selected = numbers.has(number); });
      if (!numbers.size) element.selectedIndex = -1;
    } else element.value = text;
  }

  // The contents of fields that differ from the HTML.
  const held = () => elements.map((element, number) => [number, isControl(element) ? changed(element) : null])
    .filter(([, text]) => text !== null);

  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  return {
    read,
    left: () => ({...state(), changed: held()}),
    // Let the page do what it has begun, and wait for what it fetches where it says so.
    async tick() {
      await pause(0);
      while (document.documentElement.hasAttribute("data-loading")) await pause(2);
    },
    // Tell a page of the embedded sites that time has passed.
    async turn() {
      document.dispatchEvent(new Event("agentrl:turn"));
      await this.tick();
    },
    frames: () => new Promise((done) => {
      requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
      setTimeout(() => done(false), 200);  // a page that is not painted has no frames
    }),
    // The middle of an element that is still where it was read, or null.
    point(number) {
      const element = elements[number];
      const rect = element && element.isConnected ? sight(element) || element.getClientRects()[0] : null;
      if (!rect || !rect.width || !rect.height) return null;
      return [rect.left + rect.width / 2, rect.top + rect.height / 2];
    },
    // The number of the element that is seen at a point, or null.
    at(x, y) {
      const number = elements.indexOf(document.elementFromPoint(x, y));
      return number < 0 ? null : number;
    },
    // The middle of one of the elements that a selector finds, brought into view, or null. It is element 0 from now on.
    aim(selector, place) {
      elements = [...document.querySelectorAll(selector)].slice(place, place + 1);
      if (elements.length) elements[0].scrollIntoView({block: "nearest", behavior: "instant"});
      return this.point(0);
    },
    // Scroll to the top; the height of the whole page.
    toTop() {
      scrollTo({top: 0, behavior: "instant"});
      return document.documentElement.scrollHeight;
    },
    // Select all text of a field that has the keyboard; false if another element has it.
    selectAll(number) {
      const element = elements[number];
      if (document.activeElement !== element) element.focus({preventScroll: true});
      if (element.select) element.select();
      return document.activeElement === element && typeof element.selectionStart === "number";
    },
    focus(number) {
      elements[number].focus({preventScroll: true});
      elements[number].dispatchEvent(new MouseEvent("click", {bubbles: true, composed: true}));
    },
    fill(number, text) {
      hold(elements[number], text);
      announce(elements[number]);
    },
    choose(number, option) {
      elements[number].focus({preventScroll: true});
      hold(elements[number], String(option));
      announce(elements[number]);
    },
    // The cursor goes behind what the field holds, unless something in it is selected.
    toEnd() {
      const element = document.activeElement;
      if (element && typeof element.selectionStart === "number" && element.selectionStart === element.selectionEnd)
        element.setSelectionRange(element.value.length, element.value.length);
    },
    validity(number) {
      const button = elements[number];
      const form = button && button.form;
      if (!form || form.noValidate || button.formNoValidate) return "";
      const control = [...form.elements].find((element) => element.willValidate && !element.validity.valid);
      if (!control) return "";
      const name = control.labels && control.labels.length ? control.labels[0].innerText : control.name;
      return `${(name || "").trim().slice(0, 60)}: ${control.validationMessage}`;
    },
    // Scroll the page, or, where it does not scroll, the part of it that stands in the middle.
    scroll(by) {
      const page = document.scrollingElement || document.documentElement;
      let target = page;
      if (page.scrollHeight <= innerHeight) {
        let node = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
        while (node && !(node.scrollHeight > node.clientHeight + 1
          && /auto|scroll/.test(getComputedStyle(node).overflowY))) node = node.parentElement;
        target = node || page;
      }
      target.scrollBy({top: by, behavior: "instant"});
      return document.querySelector("[data-more]") ? this.frames() : true;  // the page hears of it in the next one
    },
    restore(saved) {
      elements = [document.documentElement, ...document.documentElement.querySelectorAll("*")];
      for (const [number, text] of saved.changed) if (elements[number]) hold(elements[number], text);
      if (saved.opened) elements.forEach((element, number) => {
        if (element.localName === "details") element.open = saved.opened.includes(number);
      });
      const focused = saved.focus === null ? null : elements[saved.focus];
      if (focused) {
        focused.focus({preventScroll: true});
        if (saved.selected && focused.select) focused.select();
        else if (typeof focused.selectionStart === "number") focused.setSelectionRange(focused.value.length, focused.value.length);
      } else if (document.activeElement) document.activeElement.blur();
      scrollTo({top: saved.scroll, behavior: "instant"});
    },
  };
})();
