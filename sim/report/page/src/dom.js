// SPDX-License-Identifier: Apache-2.0
// Elements from text, never from HTML: names come from files.

// h('p.note', { id: 'x', onclick: f }, 'text', child, [children])
export function h(selector, ...rest) {
  const [tag, ...classes] = selector.split('.');
  const element = document.createElement(tag || 'div');
  if (classes.length > 0) element.className = classes.join(' ');
  for (const part of rest) add(element, part);
  return element;
}

function add(element, part) {
  if (part === null || part === undefined || part === false) return;
  if (Array.isArray(part)) {
    for (const inner of part) add(element, inner);
  } else if (part instanceof Node) {
    element.append(part);
  } else if (typeof part === 'object') {
    for (const [name, value] of Object.entries(part)) setProperty(element, name, value);
  } else {
    element.append(String(part));
  }
}

function setProperty(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith('on')) {
    element.addEventListener(name.slice(2), value);
  } else if (name === 'style') {
    for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
  } else {
    element.setAttribute(name, value === true ? '' : value);
  }
}

// A heading with everything that belongs to it; the id is what the contents link to.
export function section(id, title, ...rest) {
  return h(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    h('h2', { id: `${id}-title` }, title),
    rest,
  );
}

// One labelled choice.
export function choice(label, options, value, onchange, attributes = {}) {
  const select = h(
    'select',
    { ...attributes, onchange: (event) => onchange(event.target.value) },
    options.map(([id, text]) => h('option', { value: id, selected: id === value }, text)),
  );
  return h('label.choice', h('span', label), select);
}

// Some choices beside each other of which one is in force.
export function segments(label, options, value, onchange) {
  const group = h('div.segments', { role: 'group', 'aria-label': label });
  const buttons = options.map(([id, text]) =>
    h(
      'button',
      {
        type: 'button',
        'aria-pressed': String(id === value),
        onclick: (event) => {
          for (const button of buttons)
            button.setAttribute('aria-pressed', String(button === event.currentTarget));
          onchange(id);
        },
      },
      text,
    ),
  );
  group.append(...buttons);
  return group;
}
