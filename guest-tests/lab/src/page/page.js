"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const element = (id) => document.getElementById(id);
  const root = document.documentElement;
  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
  const narrow = () => root.clientWidth < 600;
  // What hover shows is enough; the mode bar would cover charts on small screens.
  const config = { displaylogo: false, responsive: true, displayModeBar: false, scrollZoom: false };
  let cpu = 0;
  let at = 0;

  /* Colours of the scheme that is shown. */
  function colour(name) {
    return getComputedStyle(root).getPropertyValue("--" + name).trim();
  }

  function themed(layout) {
    const shown = structuredClone(layout);
    const [text, grid, raised, line] = ["text", "grid", "raised", "line"].map(colour);
    shown.paper_bgcolor = "rgba(0,0,0,0)";
    shown.plot_bgcolor = "rgba(0,0,0,0)";
    shown.font = { color: text, size: 12, family: getComputedStyle(document.body).fontFamily };
    shown.hoverlabel = { bgcolor: raised, bordercolor: line, font: { color: text }, align: "left" };
    shown.autosize = true;
    for (const name of Object.keys(shown).filter((key) => /^[xy]axis/.test(key))) {
      Object.assign(shown[name], { gridcolor: grid, zerolinecolor: line, linecolor: line, tickcolor: line });
      if (narrow() && name[0] === "x") {
        shown[name].nticks = 4;
      }
    }
    return shown;
  }

  function draw(id, figure) {
    const place = element(id);
    if (!place || !figure) {
      return Promise.resolve();
    }
    const layout = themed(figure.layout);
    if (id === "counters") {
      layout.shapes = (layout.shapes || []).concat(cursor());
      if (narrow()) {
        layout.margin.l = 56;
        layout.annotations.forEach((title, number) => Object.assign(title, { font: { size: 10.5 }, xshift: -50, text: figure.short[number] }));
      }
    }
    if (id.startsWith("shared-")) {
      if (narrow()) {
        layout.margin.l = 56;
      }
    }
    if (id === "flame") {
      figure.data[0].marker.line = { width: 1, color: colour("back") };
      figure.data[0].textfont = { color: "#1b2229" };
      figure.data[0].insidetextfont = { color: "#1b2229" };
      figure.data[0].pathbar.textfont = { color: "#1b2229" };
    }
    return Plotly.react(place, figure.data, layout, config);
  }

  /* The lines of a chart by their names, each of which hides and shows its own. */
  function drawLines(id, figure) {
    const place = element("lines-" + id);
    if (!place || !figure) {
      return draw(id, figure);
    }
    const lines = figure.data;
    const isShown = (line) => line.visible !== false;
    const buttons = lines.map((line) => {
      const button = made("button");
      button.type = "button";
      const swatch = made("span", "swatch");
      swatch.style.background = line.line.color;
      button.append(swatch, made("span", "", line.name));
      button.addEventListener("click", () => show(lines.filter((one) => (one === line) !== isShown(one))));
      button.addEventListener("dblclick", () => show(lines.every((one) => (one === line) === isShown(one)) ? lines : [line]));
      return button;
    });
    function show(wanted) {
      lines.forEach((line, number) => {
        line.visible = wanted.includes(line);
        buttons[number].setAttribute("aria-pressed", String(line.visible));
      });
      return draw(id, figure);
    }
    place.replaceChildren(...buttons.map((button) => {
      const item = made("li");
      item.append(button);
      return item;
    }));
    return show(lines.filter(isShown));
  }

  /* The line at the moment that is shown. */
  function cursor() {
    const moment = data.cpus[cpu].moments[at];
    if (!moment) {
      return [];
    }
    const x = moment.at[data.unit === "cycles" ? 1 : 0];
    return [{ type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line: { color: colour("mark"), width: 1.5, dash: "dot" } }];
  }

  /* Registers. */
  function fileAt(number) {
    const moments = data.cpus[cpu].moments;
    const held = new Map();
    for (let index = 0; index <= number && index < moments.length; index += 1) {
      const set = moments[index].set || [];
      for (let one = 0; one < set.length; one += 2) {
        held.set(set[one], set[one + 1]);
      }
    }
    return held;
  }

  function made(tag, classes, text) {
    const one = document.createElement(tag);
    if (classes) {
      one.className = classes;
    }
    if (text !== undefined) {
      one.textContent = text;
    }
    return one;
  }

  function digits(field, value) {
    const bits = field.high - field.low + 1;
    return bits === 1 ? value.toString() : "0x" + value.toString(16).padStart(Math.ceil(bits / 4), "0");
  }

  function valueOf(field, value) {
    return (value >> BigInt(field.low)) & ((1n << BigInt(field.high - field.low + 1)) - 1n);
  }

  const opened = new Set();

  function shownRegister(register, hex, changed) {
    const value = BigInt(hex);
    const [event, said] = (data.meanings[register.name] || {})[hex] || [null, {}];
    const own = register.fields.filter((field) => !field.reserved);
    const details = made("details", changed ? "changed" : "");
    details.dataset.register = register.name;
    details.dataset.value = hex;
    details.open = opened.has(register.name);
    details.addEventListener("toggle", () => (details.open ? opened.add(register.name) : opened.delete(register.name)));
    const summary = made("summary");
    summary.append(made("span", "name", register.name), " ", made("span", "value", hex), " ");
    if (changed) {
      summary.append(made("span", "mark", "(changed) "));
    }
    if (event) {
      summary.append(made("span", "event", event));
    } else if (own.length === 1 || register.counter) {
      // The widest field is the count.
      const width = (field) => field.high - field.low;
      const widest = own.reduce((one, other) => (width(other) > width(one) ? other : one));
      const words = said[register.fields.indexOf(widest)] || (register.counter ? grouped(valueOf(widest, value)) : "");
      summary.append(made("span", "fields", words));
    } else {
      const set = own.filter((field) => valueOf(field, value) !== 0n);
      const words = set.map((field) => (field.high === field.low ? field.name : field.name + "=" + digits(field, valueOf(field, value))));
      summary.append(made("span", "fields", words.join(", ")));
    }
    details.append(summary);
    const table = made("table");
    const head = made("tr");
    ["bits", "field", "value", "says"].forEach((word) => {
      const cell = made("th", "", word);
      cell.scope = "col";
      head.append(cell);
    });
    table.append(head);
    register.fields.forEach((field, number) => {
      if (field.reserved && !said[number]) {
        return;
      }
      const row = made("tr");
      row.append(made("td", "", field.bits), made("td", "", field.name), made("td", "", digits(field, valueOf(field, value))), made("td", "", said[number] || ""));
      table.append(row);
    });
    const place = made("p", "quiet", register.address);
    details.append(place, table);
    return details;
  }

  function when(moment) {
    const cycle = data.unit === "cycles" ? ", cycle " + grouped(moment.at[1]) : "";
    return "instruction " + grouped(moment.at[0]) + cycle;
  }

  function showRegisters() {
    const { moments, registers } = data.cpus[cpu];
    const moment = moments[at];
    if (!moment || !element("moment")) {
      return;
    }
    const slider = element("moment");
    slider.max = String(moments.length - 1);
    slider.value = String(at);
    slider.setAttribute("aria-valuetext", when(moment));
    const now = element("now");
    now.replaceChildren();
    const place = [moment.address && "at " + moment.address, moment.place].filter(Boolean).join(" ");
    const which = data.cpus.length > 1 ? "CPU " + cpu + ": " : "";
    now.append(made("div", "quiet", which + "moment " + grouped(at + 1) + " of " + grouped(moments.length) + ": after " + when(moment) + (place ? ", " + place : "")));
    now.append(made("div", "what", moment.what || "a look in between"));
    if (moment.means) {
      now.append(made("div", "", moment.means));
    }
    if (moment.fields) {
      now.append(made("div", "quiet", moment.fields.join(", ")));
    }
    const changed = new Set((at === 0 ? [] : moment.set || []).filter((_, index) => index % 2 === 0));
    const held = fileAt(at);
    const zeros = element("zeros").checked;
    const shown = registers
      .map((register, number) => [register, held.get(number), changed.has(number)])
      .filter(([, hex, isChanged]) => hex !== undefined && (zeros || hex !== "0x0" || isChanged));
    element("file").replaceChildren(...shown.map(([register, hex, isChanged]) => shownRegister(register, hex, isChanged)));
    if (shown.length === 0) {
      element("file").append(made("p", "quiet", "Every register is zero."));
    }
    const around = [];
    for (let number = Math.max(0, at - 6); number <= Math.min(moments.length - 1, at + 6); number += 1) {
      const row = made("li", number === at ? "here" : "");
      const button = made("button");
      button.type = "button";
      button.append(made("span", "when", grouped(moments[number].at[0])), made("span", "", moments[number].what || "·"));
      button.addEventListener("click", () => move(number));
      row.append(button);
      around.push(row);
    }
    element("around").replaceChildren(...around);
  }

  let waiting = false;
  function move(number) {
    const most = data.cpus[cpu].moments.length - 1;
    at = Math.max(0, Math.min(most, number));
    showRegisters();
    // The line follows once a frame, however fast the slider moves.
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        const place = element("counters");
        if (place && place.layout) {
          Plotly.relayout(place, { shapes: (data.cpus[cpu].figure.layout.shapes || []).concat(cursor()) });
        }
      });
    }
  }

  /* The last moment that is not after a time: instructions are number 0, cycles number 1. */
  function momentAt(time, which) {
    const moments = data.cpus[cpu].moments;
    let found = 0;
    moments.forEach((moment, number) => {
      if (moment.at[which] <= time) {
        found = number;
      }
    });
    return found;
  }

  function showCpu() {
    const figure = data.cpus[cpu].figure;
    const still = element("still");
    if (still) {
      still.textContent = figure.still.length ? "Never moved: " + figure.still.join(", ") + "." : "";
    }
    const chooser = element("cpu");
    if (chooser) {
      chooser.value = String(cpu);
    }
    return draw("counters", figure);
  }

  function fromAddress() {
    const asked = new URLSearchParams(location.hash.slice(1));
    if (asked.has("cpu") && data.cpus[Number(asked.get("cpu"))]) {
      cpu = Number(asked.get("cpu"));
    }
    if (asked.has("at") && Number.isFinite(Number(asked.get("at")))) {
      at = momentAt(Number(asked.get("at")), 0);
      return true;
    }
    return false;
  }

  function drawAll() {
    const shared = data.shared.map((one) => drawLines("shared-" + one.kind, one.figure));
    return Promise.all([showCpu(), ...shared, draw("latency", data.interrupts), draw("flame", data.flame), draw("cpi", data.stack)]);
  }

  if (data.cpus.length) {
    if (!fromAddress()) {
      at = data.cpus[cpu].start;
    }
    showRegisters();
    const on = (id, event, action) => element(id) && element(id).addEventListener(event, action);
    on("moment", "input", () => move(Number(element("moment").value)));
    on("before", "click", () => move(at - 1));
    on("after", "click", () => move(at + 1));
    on("zeros", "change", showRegisters);
    on("cpu", "change", () => {
      cpu = Number(element("cpu").value);
      at = data.cpus[cpu].start;
      showRegisters();
      showCpu();
    });
    addEventListener("hashchange", () => {
      if (fromAddress()) {
        showRegisters();
        showCpu();
      }
    });
  }
  drawAll().then(() => {
    const place = element("counters");
    if (place && place.on) {
      place.on("plotly_click", (event) => {
        const point = event.points[0];
        move(momentAt(point.data.type === "bar" ? point.base : point.x, data.unit === "cycles" ? 1 : 0));
      });
    }
    root.dataset.drawn = "yes";
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
})();
