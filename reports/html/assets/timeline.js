'use strict';
// Draws the timeline of a run. The data is in the page, compressed; each item
// is eight numbers: lane, from, length, kind, label, text, note, flags, with
// times in microseconds and texts as numbers of a string.
const ROW = 1, TURN = 2, OPEN = 4, FIELDS = 8;
const LANE = 22, GROUP = 18, AXIS = 26, LABELS = 230;
const KINDS = {
  fault: 'fault', write: 'write', refused: 'refused', unsure: 'outcome unknown', read: 'read', binlogged: 'in the binlog',
  waiting: 'waiting for its ACK', visible: 'visible', server: 'server', process: 'process of the tool', step: 'step of the tool',
  held: 'held by a gate', statement: 'other statement', stream: 'event to the tool', other: 'other',
};

async function unpack(text) {
  const binary = atob(text.trim().replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

// Warp shortens idle time: a stretch in which nothing begins or ends counts as
// no more than a hundredth of the run.
class Warp {
  constructor(data, scale) {
    const times = new Set([0, data.end]);
    for (let i = 0; i < data.items.length; i += FIELDS) {
      times.add(data.items[i + 1]);
      times.add(data.items[i + 1] + data.items[i + 2]);
    }
    this.times = [...times].sort((a, b) => a - b);
    const cap = scale ? Infinity : Math.max(data.end / 100, 1);
    this.places = [0];
    this.gaps = []; // the shortened stretches
    for (let i = 1; i < this.times.length; i++) {
      const gap = this.times[i] - this.times[i - 1];
      if (gap > cap) this.gaps.push(i);
      this.places.push(this.places[i - 1] + Math.min(gap, cap));
    }
    this.end = Math.max(this.places.at(-1), 1);
  }
  static at(list, x) { // the last place in list that is not beyond x
    let low = 0, high = list.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (list[mid] <= x) low = mid; else high = mid - 1;
    }
    return low;
  }
  static map(from, to, x) {
    const i = Math.min(Warp.at(from, x), from.length - 2);
    if (i < 0) return 0;
    const length = from[i + 1] - from[i];
    return to[i] + (length ? (x - from[i]) / length * (to[i + 1] - to[i]) : 0);
  }
  place(time) { return Warp.map(this.times, this.places, time); }
  time(place) { return Warp.map(this.places, this.times, place); }
}

class Timeline {
  constructor(data) {
    this.data = data;
    this.canvas = document.getElementById('chart');
    this.tip = document.getElementById('tip');
    this.detail = document.getElementById('detail');
    this.selected = -1;
    this.matches = new Set();
    this.layout();
    this.setScale(false);
    this.listen();
    this.legend();
    this.resize();
    this.show();
  }

  // layout puts the lanes one below the other, each group under its name.
  layout() {
    const list = document.getElementById('lanes');
    this.tops = [];
    this.byLane = this.data.lanes.map(() => []);
    this.history = [];
    for (let n = 0; n * FIELDS < this.data.items.length; n++) {
      const lane = this.byLane[this.item(n).lane];
      lane.push(n);
      if (this.item(n).flags & ROW) this.history.push(n);
    }
    this.history.sort((a, b) => this.item(a).from - this.item(b).from);
    // An item that ends late hides none that begins after it: the search for
    // what lies under the pointer goes back as far as the longest span.
    this.longest = this.byLane.map(l => l.reduce((m, n) => Math.max(m, this.item(n).length), 0));
    let y = AXIS, group = '';
    this.labels = [];
    this.data.lanes.forEach(([g, name], i) => {
      if (g !== group) {
        group = g;
        this.put(list, y, g, 'group');
        y += GROUP;
      }
      this.tops.push(y);
      const own = this.byLane[i].some(n => this.item(n).flags & ROW);
      this.labels.push(this.put(list, y, name, own ? 'row' : ''));
      y += LANE;
    });
    this.height = y + 6;
  }

  put(list, y, text, kind) {
    const li = document.createElement('li');
    li.textContent = text;
    li.title = text;
    li.className = kind;
    li.style.top = y + 'px';
    list.append(li);
    return li;
  }

  item(n) {
    const d = this.data.items, i = n * FIELDS;
    return {
      lane: d[i], from: d[i + 1], length: d[i + 2], to: d[i + 1] + d[i + 2], kind: this.data.kinds[d[i + 3]],
      label: this.data.strings[d[i + 4]], text: this.data.strings[d[i + 5]], note: this.data.strings[d[i + 6]], flags: d[i + 7],
    };
  }

  setScale(scale) {
    const from = this.warp ? this.warp.time(this.from) : 0, to = this.warp ? this.warp.time(this.to) : this.data.end;
    this.warp = new Warp(this.data, scale);
    this.view(this.warp.place(from), this.warp.place(to));
  }

  // view shows a part of the axis.
  view(from, to) {
    const least = this.warp.end / 1e6;
    const length = Math.min(Math.max(to - from, least), this.warp.end * 1.04);
    from = Math.min(Math.max(from, -this.warp.end * 0.02), this.warp.end * 1.02 - length);
    this.from = from;
    this.to = from + length;
    this.draw();
  }

  x(time) { return (this.warp.place(time) - this.from) / (this.to - this.from) * this.width; }
  time(x) { return this.warp.time(this.from + x / this.width * (this.to - this.from)); }

  // locate returns the middle of an item, in pixels of the canvas.
  locate(n) {
    const i = this.item(n);
    const a = Math.max(this.x(i.from), 0), b = Math.min(this.x(i.to), this.width);
    return { x: (a + b) / 2, y: this.tops[i.lane] + LANE / 2 };
  }

  resize() {
    this.width = Math.max(this.canvas.parentElement.clientWidth - LABELS, 200);
    const ratio = Math.max(window.devicePixelRatio || 1, this.printing ? 2 : 1);
    this.ratio = ratio;
    this.canvas.style.width = this.width + 'px';
    this.canvas.style.height = this.height + 'px';
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.height * ratio;
    this.canvas.parentElement.style.height = this.height + 'px';
    this.draw();
  }

  colours() {
    const style = getComputedStyle(document.documentElement);
    const get = name => style.getPropertyValue(name).trim();
    const c = { ink: get('--ink'), soft: get('--soft'), line: get('--line'), row: get('--row') };
    for (const k of Object.keys(KINDS)) c[k] = get('--k-' + k);
    return c;
  }

  draw() {
    if (!this.width) return;
    const g = this.canvas.getContext('2d');
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    g.clearRect(0, 0, this.width, this.height);
    g.font = '11px system-ui, sans-serif';
    g.textBaseline = 'middle';
    const c = this.colours();
    this.drawAxis(g, c);
    this.byLane.forEach((items, lane) => this.drawLane(g, c, items, lane));
    if (this.selected >= 0) {
      const i = this.item(this.selected);
      g.strokeStyle = c.ink;
      g.lineWidth = 2;
      g.strokeRect(this.x(i.from) - 4, this.tops[i.lane] + 1, Math.max(this.x(i.to) - this.x(i.from), 1) + 8, LANE - 2);
    }
  }

  drawAxis(g, c) {
    g.lineWidth = 1;
    for (const i of this.warp.gaps) { // shortened waits
      const a = this.x(this.warp.times[i - 1]), b = this.x(this.warp.times[i]);
      if (b < 0 || a > this.width) continue;
      g.fillStyle = c.line;
      g.globalAlpha = 0.35;
      g.fillRect(a, AXIS, b - a, this.height - AXIS);
      g.globalAlpha = 1;
      const text = '≈ ' + duration(this.warp.times[i] - this.warp.times[i - 1]);
      if (b - a > g.measureText(text).width + 4) {
        g.fillStyle = c.soft;
        g.fillText(text, (a + b) / 2 - g.measureText(text).width / 2, this.height - 7);
      }
    }
    g.fillStyle = c.soft;
    g.strokeStyle = c.line;
    let last = -1e9;
    for (let x = 0; x <= this.width; x += 90) {
      const step = Math.pow(10, Math.floor(Math.log10(Math.max(Math.abs(this.time(x + 45) - this.time(x - 45)) / 2, 1))));
      const t = Math.round(this.time(x) / step) * step;
      if (t < 0 || t > this.data.end) continue;
      const at = this.x(t), text = clock(t);
      if (at < last + 14 || at < 0 || at > this.width) continue;
      g.beginPath();
      g.moveTo(at, 18);
      g.lineTo(at, this.height);
      g.stroke();
      g.fillText(text, at + 2, 10);
      last = at + g.measureText(text).width;
    }
  }

  drawLane(g, c, items, lane) {
    const y = this.tops[lane];
    g.strokeStyle = c.line;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(0, y + LANE / 2);
    g.lineTo(this.width, y + LANE / 2);
    g.stroke();
    const order = items.filter(n => !(this.item(n).flags & ROW)).concat(items.filter(n => this.item(n).flags & ROW));
    let busy = -1e9, text = -1e9;
    order.forEach((n, k) => {
      const i = this.item(n), own = i.flags & ROW;
      const a = this.x(i.from), b = this.x(i.to);
      if (b < -6 || a > this.width + 6) return;
      if (!own && i.kind !== 'held' && b - a < 1 && a - busy < 0.8 && !this.matches.has(n)) return; // on the same pixel as the one before
      busy = a;
      g.fillStyle = c[i.kind] || c.other;
      g.globalAlpha = this.matches.size && !this.matches.has(n) && !own ? 0.3 : 1;
      const left = Math.max(a, -5), right = Math.min(b, this.width + 5);
      if (right - left < 3) {
        g.fillRect(a - 1.5, y + 4, 3, LANE - 8);
      } else if (i.kind === 'held') {
        g.fillRect(left, y + LANE - 6, right - left, 4);
      } else {
        g.globalAlpha *= i.kind === 'process' ? 0.3 : 0.45; // a label must stay readable on it
        g.fillRect(left, y + 5, right - left, LANE - 10);
      }
      g.globalAlpha = 1;
      if (i.flags & OPEN) {
        g.fillStyle = c.ink;
        g.fillText('…', right - 10, y + LANE / 2);
      }
      if (own) {
        g.strokeStyle = c.row;
        g.lineWidth = 2;
        g.strokeRect(left - 3, y + 3, Math.max(right - left, 0) + 6, LANE - 6);
      }
      if (this.matches.has(n)) {
        g.strokeStyle = c.ink;
        g.lineWidth = 1;
        g.strokeRect(left - 4, y + 2, Math.max(right - left, 0) + 8, LANE - 4);
      }
      // A label, where there is room until the next item.
      const from = Math.max(a, 0) + (right - left > 8 ? 3 : 6);
      const next = order[k + 1] === undefined ? this.width : Math.max(this.x(this.item(order[k + 1]).from), b > from + 60 ? b : 0);
      const room = next - from - 4;
      if (room > 30 && from > text && (a >= 0 || b > 60)) {
        const label = fitText(g, i.label, room);
        if (label) {
          g.fillStyle = own ? c.row : c.ink;
          g.fillText(label, from, y + LANE / 2);
          text = from + g.measureText(label).width;
        }
      }
    });
  }

  // under returns the item at a place of the canvas, -1 for none.
  under(px, py) {
    const lane = this.tops.findIndex(top => py >= top && py < top + LANE);
    if (lane < 0) return -1;
    const near = 6, items = this.byLane[lane];
    const first = this.time(px - near), last = this.time(px + near);
    let best = -1, least = Infinity;
    // Items are in order of their beginning.
    let low = 0, high = items.length;
    const begin = first - this.longest[lane];
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.item(items[mid]).from < begin) low = mid + 1; else high = mid;
    }
    for (let k = low; k < items.length; k++) {
      const n = items[k], i = this.item(n);
      if (i.from > last) break;
      if (i.to < first) continue;
      const a = this.x(i.from), b = this.x(i.to);
      const away = px < a ? a - px : px > b ? px - b : 0;
      const cost = away * 1000 + (b - a) - (i.flags & ROW ? 0.5 : 0); // the shortest of those that are hit
      if (away <= near && cost < least) {
        least = cost;
        best = n;
      }
    }
    return best;
  }

  // describe fills an element with all that is known of an item.
  describe(into, n, most) {
    const i = this.item(n);
    const add = (name, text, kind) => {
      const e = document.createElement(name);
      e.textContent = text;
      e.className = kind;
      into.append(e);
    };
    into.replaceChildren();
    add('div', i.label, 'what-head');
    const [group, name] = this.data.lanes[i.lane];
    const until = i.flags & OPEN ? ', and never ended' : i.length ? ' to ' + clock(i.to) + ' (' + duration(i.length) + ')' : '';
    add('div', clock(i.from) + until + ' · ' + group + ': ' + name + (i.flags & ROW ? ' · of the row' : ''), 'soft');
    if (i.text) add('div', i.text.length > most ? i.text.slice(0, most) + '… (' + i.text.length + ' characters; click to read all)' : i.text, 'statement');
    if (i.note) add('div', i.note.length > most ? i.note.slice(0, most) + '…' : i.note, 'soft');
  }

  hover(px, py) {
    const n = this.under(px, py);
    this.tip.hidden = n < 0;
    if (n < 0) return;
    this.describe(this.tip, n, 1500);
    const width = this.tip.offsetWidth, height = this.tip.offsetHeight;
    const left = Math.min(LABELS + px + 12, LABELS + this.width - width - 4);
    const below = py + 16 + height < this.height;
    this.tip.style.left = Math.max(left, 4) + 'px';
    this.tip.style.top = (below ? py + 16 : Math.max(py - height - 12, 0)) + 'px';
  }

  select(n, show) {
    this.selected = n;
    if (n < 0) return this.draw();
    this.describe(this.detail, n, Infinity);
    const i = this.item(n);
    this.labels.forEach((l, k) => l.classList.toggle('current', k === i.lane));
    const a = this.warp.place(i.from), b = this.warp.place(i.to), length = this.to - this.from;
    if (show && (a < this.from || a > this.to || b < this.from)) this.view(a - length / 3, a + length * 2 / 3);
    else this.draw();
  }

  jump() {
    this.show();
    this.canvas.scrollIntoView({ block: 'nearest' });
  }

  // show shows the first anomaly, if there is one.
  show() {
    const [from, to, n] = this.data.focus;
    if (n < 0) return;
    const a = this.warp.place(from), b = this.warp.place(to), margin = Math.max((b - a) * 0.06, this.warp.end / 200);
    this.view(a - margin, b + margin);
    this.select(n, false);
  }

  zoom(factor, px) {
    const at = this.from + (px === undefined ? this.width / 2 : px) / this.width * (this.to - this.from);
    this.view(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  // step moves the selection along its lane, or to another lane.
  step(along, across) {
    if (this.selected < 0) {
      const first = this.byLane.find(l => l.length);
      return first && this.select(first[0], true);
    }
    const i = this.item(this.selected);
    const own = this.byLane[i.lane];
    if (along) {
      const next = own[own.indexOf(this.selected) + along];
      if (next !== undefined) this.select(next, true);
      return;
    }
    for (let lane = i.lane + across; lane >= 0 && lane < this.byLane.length; lane += across) {
      if (!this.byLane[lane].length) continue;
      const nearest = this.byLane[lane].reduce((m, n) => Math.abs(this.item(n).from - i.from) < Math.abs(this.item(m).from - i.from) ? n : m);
      return this.select(nearest, true);
    }
  }

  // follow moves along the history of the row.
  follow(by) {
    if (!this.history.length) return;
    const at = this.history.indexOf(this.selected);
    const next = at < 0 ? (by > 0 ? 0 : this.history.length - 1) : Math.min(Math.max(at + by, 0), this.history.length - 1);
    this.select(this.history[next], true);
  }

  find(text) {
    this.matches = new Set();
    const wanted = text.trim().toLowerCase();
    if (wanted) {
      const hit = this.data.strings.map(s => s.toLowerCase().includes(wanted));
      const d = this.data.items;
      for (let i = 0; i < d.length; i += FIELDS) {
        if (hit[d[i + 4]] || hit[d[i + 5]] || hit[d[i + 6]]) this.matches.add(i / FIELDS);
      }
    }
    document.getElementById('found').textContent = wanted ? this.matches.size + (this.matches.size === 1 ? ' event' : ' events') : '';
    this.draw();
  }

  // next selects the next match.
  next() {
    const all = [...this.matches].sort((a, b) => this.item(a).from - this.item(b).from);
    if (all.length) this.select(all[(all.indexOf(this.selected) + 1) % all.length], true);
  }

  legend() {
    const list = document.getElementById('legend');
    for (const kind of this.data.kinds) {
      const span = document.createElement('span');
      const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
      const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
      rect.setAttribute('width', '12');
      rect.setAttribute('height', '12');
      rect.setAttribute('class', 'k-' + kind);
      svg.append(rect);
      span.append(svg, KINDS[kind] || kind);
      list.append(span);
    }
  }

  listen() {
    const c = this.canvas, by = id => document.getElementById(id);
    let drag = null, moved = false;
    c.addEventListener('pointerdown', e => { drag = { x: e.offsetX, from: this.from, to: this.to }; moved = false; });
    window.addEventListener('pointerup', () => { drag = null; });
    c.addEventListener('pointermove', e => {
      if (drag && e.buttons) {
        const by = (drag.x - e.offsetX) / this.width * (drag.to - drag.from);
        if (Math.abs(drag.x - e.offsetX) > 3) moved = true;
        if (moved) { this.tip.hidden = true; this.view(drag.from + by, drag.to + by); }
        return;
      }
      this.hover(e.offsetX, e.offsetY);
    });
    c.addEventListener('pointerleave', () => { this.tip.hidden = true; });
    c.addEventListener('click', e => { if (!moved) this.select(this.under(e.offsetX, e.offsetY), false); });
    c.addEventListener('dblclick', e => this.zoom(0.4, e.offsetX));
    c.addEventListener('wheel', e => {
      if (e.ctrlKey || e.metaKey) this.zoom(Math.pow(1.0015, e.deltaY), e.offsetX);
      else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
        const by = e.deltaX / this.width * (this.to - this.from);
        this.view(this.from + by, this.to + by);
      } else return;
      e.preventDefault();
    }, { passive: false });
    c.addEventListener('keydown', e => {
      const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
      if (!move || e.ctrlKey || e.altKey || e.metaKey) return;
      e.preventDefault();
      this.step(...move);
    });
    document.addEventListener('keydown', e => {
      if (e.ctrlKey || e.altKey || e.metaKey || ['INPUT', 'SELECT', 'TEXTAREA'].includes(e.target.tagName)) return;
      const act = {
        j: () => this.jump(), 0: () => this.view(0, this.warp.end), '+': () => this.zoom(0.6), '=': () => this.zoom(0.6),
        '-': () => this.zoom(1.6), n: () => this.follow(1), p: () => this.follow(-1), '/': () => by('find').focus(),
        escape: () => { this.tip.hidden = true; this.select(-1); },
      }[e.key.toLowerCase()];
      if (!act) return;
      e.preventDefault();
      act();
    });
    by('jump').disabled = this.data.focus[2] < 0;
    by('jump').addEventListener('click', () => this.jump());
    by('whole').addEventListener('click', () => this.view(0, this.warp.end));
    by('in').addEventListener('click', () => this.zoom(0.6));
    by('out').addEventListener('click', () => this.zoom(1.6));
    by('scale').addEventListener('change', e => this.setScale(e.target.checked));
    by('find').addEventListener('input', e => this.find(e.target.value));
    by('find').addEventListener('keydown', e => { if (e.key === 'Enter') this.next(); });
    for (const b of document.querySelectorAll('button.show')) {
      b.addEventListener('click', () => {
        this.select(Number(b.dataset.item), true);
        document.getElementById('timeline').scrollIntoView({ block: 'center' });
        c.focus({ preventScroll: true });
      });
    }
    new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement);
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
    window.addEventListener('beforeprint', () => { this.printing = true; this.view(0, this.warp.end); this.resize(); });
    window.addEventListener('afterprint', () => { this.printing = false; this.resize(); });
    window.matchMedia('print').addEventListener('change', () => this.draw());
  }
}

function clock(us) { return us >= 1e7 ? (us / 1e6).toFixed(3) + ' s' : (us / 1e3).toFixed(us % 1000 && us < 1e6 ? 3 : 1) + ' ms'; }
function duration(us) { return us >= 1e6 ? (us / 1e6).toFixed(2) + ' s' : us >= 1e3 ? (us / 1e3).toFixed(1) + ' ms' : us + ' µs'; }

function fitText(g, text, room) {
  if (g.measureText(text).width <= room) return text;
  let n = Math.floor(text.length * room / g.measureText(text).width) - 1;
  return n > 3 ? text.slice(0, n) + '…' : '';
}

unpack(document.getElementById('data').textContent).then(data => {
  window.timeline = new Timeline(data);
  document.documentElement.dataset.ready = performance.now(); // how long that took
}).catch(e => {
  document.getElementById('detail').textContent = 'The timeline can\'t be drawn by this browser: ' + e;
  throw e;
});
