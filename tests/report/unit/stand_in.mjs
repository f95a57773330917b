// SPDX-License-Identifier: Apache-2.0
// As much of a browser as the page's modules need when Node loads them: elements, events, a style
// sheet, a chart library that remembers what it was asked to draw. To be imported before them.

// Events carry their target; there is no bubbling.
class Target {
  constructor() {
    this.listeners = new Map();
  }
  addEventListener(type, listener) {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), listener]);
  }
  dispatchEvent(event) {
    const seen = { type: event.type, target: this, currentTarget: this };
    for (const listener of this.listeners.get(event.type) ?? [])
      listener({ ...seen, ...event, preventDefault: () => {} });
  }
}

class StandInNode extends Target {}

class Text extends StandInNode {
  constructor(text) {
    super();
    this.textContent = text;
  }
}

class Style {
  setProperty(name, value) {
    this[name] = value;
  }
}

export class Element extends StandInNode {
  constructor(tag) {
    super();
    Object.assign(this, { tag, className: '', style: new Style(), dataset: {}, childNodes: [] });
    Object.assign(this, { parent: null, hidden: false, disabled: false, open: false });
    this.attributes = new Map();
    this.clientWidth = 800;
  }
  append(...parts) {
    for (const part of parts) {
      const node = part instanceof StandInNode ? part : new Text(String(part));
      node.parent?.remove(node);
      node.parent = this;
      this.childNodes.push(node);
    }
  }
  remove(node) {
    this.childNodes = this.childNodes.filter((child) => child !== node);
  }
  replaceChildren(...parts) {
    for (const child of this.childNodes) child.parent = null;
    this.childNodes = [];
    this.append(...parts);
  }
  setAttribute(name, value) {
    if (name === 'class') this.className = String(value);
    this.attributes.set(name, String(value));
  }
  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }
  get id() {
    return this.getAttribute('id') ?? '';
  }
  get children() {
    return this.childNodes.filter((child) => child instanceof Element);
  }
  get textContent() {
    return this.childNodes.map((child) => child.textContent).join('');
  }
  set textContent(text) {
    this.replaceChildren(text);
  }
  get isConnected() {
    return this === document.documentElement || (this.parent?.isConnected ?? false);
  }
  // 'tag', '.class', 'tag.class' or '#id', in the order of the document.
  querySelectorAll(selector) {
    return this.children.flatMap((child) => [
      ...(child.matches(selector) ? [child] : []),
      ...child.querySelectorAll(selector),
    ]);
  }
  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }
  matches(selector) {
    if (selector.startsWith('#')) return this.id === selector.slice(1);
    const [tag, ...classes] = selector.split('.');
    const own = this.className.split(' ');
    return (tag === '' || tag === this.tag) && classes.every((name) => own.includes(name));
  }
}

// Calls back when a test says so.
class Observer {
  constructor(callback) {
    this.callback = callback;
    Observer.all.push(this);
    this.observed = new Set();
  }
  observe(element) {
    this.observed.add(element);
  }
  unobserve(element) {
    this.observed.delete(element);
  }
  disconnect() {
    this.observed.clear();
  }
}
Observer.all = [];
class NearObserver extends Observer {}
class SizeObserver extends Observer {}

// What a canvas was asked to draw: [name of the call, arguments, colour of the filling].
export const strokes = [];
const plain = { globalAlpha: 1, fillStyle: '', strokeStyle: '' };
const pen = new Proxy(plain, {
  get: (target, name) =>
    name in target
      ? target[name]
      : (...values) => strokes.push([name, values, target.fillStyle, target.globalAlpha]),
});
Element.prototype.getContext = function getContext() {
  return this.tag === 'canvas' ? pen : null;
};
Element.prototype.getBoundingClientRect = () => ({ left: 0, top: 0 });

const html = new Element('html');
const head = new Element('head');
const body = new Element('body');
const charts = new Element('script');
charts.setAttribute('id', 'charts');
charts.textContent = 'the library';
html.append(head, body);
body.append(charts);

// What the library was asked to draw: { spec, options, click(datum), finalized }.
export const drawings = [];
const library = {
  async embed(element, spec, options) {
    const drawing = { spec, options, finalized: false, click: () => {} };
    drawings.push(drawing);
    return {
      finalize() {
        drawing.finalized = true;
      },
      view: {
        container: () => element,
        addEventListener(type, listener) {
          drawing[type] = (datum) => listener({ type }, datum && { datum });
        },
      },
    };
  },
};

export const system = Object.assign(new Target(), { matches: false });
export const paper = Object.assign(new Target(), { matches: false });

Object.assign(globalThis, {
  Node: StandInNode,
  IntersectionObserver: NearObserver,
  ResizeObserver: SizeObserver,
  document: {
    documentElement: html,
    head,
    body,
    title: '',
    createElement: (tag) => new Element(tag),
    getElementById: (id) => html.querySelector(`#${id}`),
  },
  getComputedStyle: () => ({ getPropertyValue: (name) => ` ${name} ` }),
  window: Object.assign(new Target(), {
    location: { hash: '' },
    matchMedia: (query) => (query === 'print' ? paper : system),
    smkVega: library,
    scrollY: 0,
    scrollTo: () => {},
  }),
});

// Scrolls everything that waits into view, and waits until it is drawn.
export async function scrollThrough() {
  for (const observer of Observer.all.filter((o) => o instanceof NearObserver)) {
    const entries = [...observer.observed].map((target) => ({ target, isIntersecting: true }));
    observer.callback([...entries, { target: body, isIntersecting: false }]);
  }
  await new Promise((done) => setImmediate(done));
}

// Says to all charts that their sizes may have changed.
export async function resize() {
  for (const observer of Observer.all) if (observer.observed.size > 0) observer.callback([]);
  await new Promise((done) => setImmediate(done));
}
