({
  // Text that stands out from its ground by less than 4.5 (WCAG 2.2, success criterion 1.4.3).
  contrasts() {
    const channels = (text) => text.match(/[\d.]+/g).map(Number);
    const linear = (c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    const ground = (element) => {
      for (let e = element; e; e = e.parentElement) {
        const found = channels(getComputedStyle(e).backgroundColor);
        if (found.length === 3 || found[3] === 1) return found;
      }
      return [255, 255, 255];
    };
    const bad = [];
    for (const element of document.querySelectorAll("body *")) {
      const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
      if (!own || !element.getClientRects().length || element.closest("script, style, .unseen, .skip")) continue;
      const style = getComputedStyle(element);
      const ink = channels(element.closest("svg") ? style.fill : style.color);
      const [a, b] = [light(ink), light(ground(element))].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < 4.5) bad.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
    }
    return bad;
  },

  // What makes the page wider than the window.
  overflow() {
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    const right = (e) => e.getBoundingClientRect().right;
    const wide = [...document.querySelectorAll("body *")].filter((e) => right(e) > innerWidth + 1);
    return [`${document.documentElement.scrollWidth} > ${innerWidth}`, ...wide.map((e) => `${e.tagName}.${e.className}`)];
  },

  // Text that leaves its drawing, or its box.
  clipped() {
    const bad = [];
    for (const svg of document.querySelectorAll("svg.chart")) {
      const box = svg.getBoundingClientRect();
      for (const text of box.width ? svg.querySelectorAll("text") : []) {
        const t = text.getBoundingClientRect();
        const inside = t.left >= box.left - 0.5 && t.right <= box.right + 0.5;
        if (!inside || t.top < box.top - 0.5 || t.bottom > box.bottom + 0.5) bad.push(text.textContent);
      }
    }
    const boxes = "p, li, dd, dt, th, td, h1, h2, h3, pre, summary, figcaption, caption, .task, .count";
    for (const element of document.querySelectorAll(boxes)) {
      if (!element.getClientRects().length || !element.clientWidth) continue;
      if (element.scrollWidth > element.clientWidth + 1) bad.push(`${element.tagName}.${element.className}`);
    }
    return bad;
  },

  // Texts of a drawing, or parts of a line of the map, that lie on each other.
  overlaps() {
    const across = (a, b) => a.left < b.right - 0.5 && b.left < a.right - 0.5;
    const meet = (a, b) => across(a, b) && a.top < b.bottom - 2 && b.top < a.bottom - 2;
    const bad = [];
    const groups = [
      ...[...document.querySelectorAll("svg.chart")].map((svg) => [...svg.querySelectorAll("text")]),
      ...[...document.querySelectorAll(".tasks li")].map((row) => [...row.children]),
    ];
    for (const group of groups) {
      const boxes = group.map((part) => part.getBoundingClientRect());
      boxes.forEach((box, i) => boxes.slice(i + 1).forEach((other, j) => {
        if (box.width && meet(box, other)) bad.push(`${group[i].textContent} / ${group[i + j + 1].textContent}`);
      }));
    }
    return bad;
  },
})