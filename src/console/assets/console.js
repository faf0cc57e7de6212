// What moves on every page. Without it, every page works, and only the shortcuts are missing.

/** @param {string} text Told to screen readers. */
const tell = text => {
  const status = document.getElementById('status')
  if (status) status.textContent = text
}

/**
 * @param {Element} element
 * @param {string} selector
 */
const closest = (element, selector) => /** @type {HTMLElement | null} */ (element.closest(selector))

/**
 * @param {ParentNode} root
 * @param {string} selector
 */
const all = (root, selector) => [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(selector))]

/** @param {HTMLElement} button */
const copy = async button => {
  const source = document.getElementById(button.dataset['copies'] ?? '')
  if (!source) return
  await navigator.clipboard.writeText(source.textContent ?? '')
  const label = button.lastChild
  const before = label?.textContent ?? ''
  if (label) label.textContent = 'Copied'
  tell('Copied')
  setTimeout(() => {
    if (label) label.textContent = before
  }, 2000)
}

/** @param {HTMLElement} tab */
const selectTab = tab => {
  const group = closest(tab, '[data-tabs]')
  for (const other of group ? all(group, '[role=tab]') : []) {
    const isSelected = other === tab
    other.setAttribute('aria-selected', String(isSelected))
    other.setAttribute('tabindex', isSelected ? '0' : '-1')
    const panel = document.getElementById(other.getAttribute('aria-controls') ?? '')
    if (panel) panel.hidden = !isSelected
  }
}

/** Whether shortcuts have ⌘ instead of Ctrl. */
const isApple = /mac|iphone|ipad/i.test(navigator.platform)

/**
 * Shows what needs scripts, and one panel of each group of tabs.
 * @param {ParentNode} root
 */
const prepare = root => {
  for (const button of all(root, '[data-copies][hidden]')) button.hidden = false
  for (const tab of all(root, '[role=tab][aria-selected=true]')) selectTab(tab)
  if (isApple) for (const key of all(root, 'kbd')) key.textContent = key.textContent?.replace('Ctrl ', '⌘') ?? ''
  const found = all(root, '[role=option][aria-selected=true]')[0]
  if (found) selectFound(found)
  if (opensFirst && isOfQuery(found)) found?.click()
}

/** @param {string} id */
const openDialog = id => {
  const dialog = document.getElementById(id)
  if (!(dialog instanceof HTMLDialogElement) || dialog.open) return
  dialog.showModal()
  const field = dialog.querySelector('input')
  field?.select()
  field?.dispatchEvent(new Event('opened'))
}

/** Moves the selection of the finder. The focus stays in its field. @param {HTMLElement} option */
const selectFound = option => {
  for (const other of document.querySelectorAll('#finder [role=option]'))
    other.setAttribute('aria-selected', String(other === option))
  document.querySelector('#finder [role=combobox]')?.setAttribute('aria-activedescendant', option.id)
  option.scrollIntoView({ block: 'nearest' })
}

/** Whether the finder shows the results of what is typed. @param {Element | undefined} option */
const isOfQuery = option => {
  const field = /** @type {HTMLInputElement | null} */ (document.querySelector('#finder [role=combobox]'))
  return option?.closest('[data-query]')?.getAttribute('data-query') === field?.value.trim()
}

/** Whether Enter came before the results, of which the first then opens. */
let opensFirst = false

/** @param {KeyboardEvent} event @param {HTMLInputElement} field */
const findByKey = (event, field) => {
  const options = all(document, '#finder [role=option]')
  const at = options.findIndex(option => option.getAttribute('aria-selected') === 'true')
  opensFirst = false
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault()
    const next = options.at((at + (event.key === 'ArrowDown' ? 1 : -1)) % options.length)
    if (next) selectFound(next)
  } else if (event.key === 'Enter' && !event.isComposing) {
    event.preventDefault()
    if (isOfQuery(options[at])) options[at]?.click()
    else {
      opensFirst = true
      field.dispatchEvent(new Event('opened'))
    }
  }
}

document.addEventListener('click', event => {
  const target = /** @type {Element} */ (event.target)
  const copier = closest(target, '[data-copies]')
  if (copier) void copy(copier)
  const tab = closest(target, '[role=tab]')
  if (tab) selectTab(tab)
  const opener = closest(target, '[data-opens]')
  if (opener) openDialog(opener.dataset['opens'] ?? '')
  if (closest(target, '[data-closes]') || target instanceof HTMLDialogElement) target.closest('dialog')?.close()
})

/** What opens may say which of its fields comes first. */
document.addEventListener(
  'toggle',
  ({ target }) => {
    if (target instanceof HTMLDetailsElement && target.open)
      document.getElementById(target.dataset['focuses'] ?? '')?.focus()
  },
  { capture: true },
)

// Reading the page anew, or going back to it, would send the form again, which makes another secret.
const secret = /** @type {HTMLElement | null} */ (document.querySelector('[data-shown-once]'))
if (secret) history.replaceState(history.state, '', secret.dataset['shownOnce'])

/** The forms that are under way. */
let sent = new WeakSet()

/** A form is sent once, and its button says so until the answer comes. */
document.addEventListener('submit', event => {
  const form = /** @type {HTMLFormElement} */ (event.target)
  if (form.hasAttribute('hx-post') || event.defaultPrevented) return
  // A shortcut presses no button.
  if (sent.has(form)) event.preventDefault()
  sent.add(form)
  const { submitter } = event
  // A disabled button would not be sent.
  setTimeout(() => submitter?.setAttribute('disabled', ''), 0)
})
// The page comes back from the browser's memory as it was left.
addEventListener('pageshow', () => {
  sent = new WeakSet()
  for (const button of document.querySelectorAll('button[type=submit][disabled]')) button.removeAttribute('disabled')
})

// Requests of htmx

/** @typedef {{ target: Element, xhr: XMLHttpRequest, shouldSwap: boolean, requestConfig: { elt: Element, verb: string } }} Requested */

/** @param {Event} event */
const detailOf = event => /** @type {CustomEvent<Requested>} */ (event).detail

const UNREACHED = 'The service cannot be reached. Nothing on this page is lost. Try again in a moment.'

/** Whether the request sends a form that changes something. @param {Requested} requested */
const isChange = ({ requestConfig: { elt, verb } }) => verb !== 'get' && elt instanceof HTMLFormElement

/** The only message about a request that failed, and whether that was a change. */
let ofChange = false
const failure = document.createElement('p')
failure.className = 'fault'
failure.setAttribute('role', 'alert')

/**
 * Says where a request began that it failed. A form may have words and a place of its own for that.
 * @param {Requested} requested
 * @param {string} [message]
 */
const sayFailure = (requested, message) => {
  // What is asked for again and again says so once, and nothing about a change is lost.
  if (failure.isConnected && !isChange(requested)) return
  const { elt } = requested.requestConfig
  const from = elt === document.body ? requested.target : elt
  const form = closest(from, 'form')
  ofChange = isChange(requested)
  failure.textContent = message ?? ((ofChange && form?.dataset['unreached']) || UNREACHED)
  const place = form?.querySelector('[data-failures]')
  if (place) place.prepend(failure)
  else (form ?? from).before(failure)
}

document.addEventListener('htmx:sendError', event => sayFailure(detailOf(event)))
document.addEventListener('htmx:timeout', event => sayFailure(detailOf(event)))
document.addEventListener('htmx:afterSwap', event => {
  if (!ofChange || isChange(detailOf(event))) failure.remove()
})

/** Puts no page into a page: an error without a place in a form, or the page of a proxy that misses the service. */
document.addEventListener('htmx:beforeSwap', event => {
  const requested = detailOf(event)
  const { status, response } = requested.xhr
  if (status < 400 || !/^\s*<(!doctype|html)/i.test(response)) return
  requested.shouldSwap = false
  const page = new DOMParser().parseFromString(response, 'text/html')
  sayFailure(requested, page.querySelector('.fault')?.textContent ?? undefined)
})

/** What had the focus. A button loses it while it is disabled, and what htmx replaces loses it for good. */
let hadFocus = document.activeElement
document.addEventListener('htmx:beforeRequest', () => {
  hadFocus = document.activeElement
})
document.addEventListener('htmx:afterRequest', event => {
  if (document.activeElement !== document.body || !hadFocus || hadFocus === document.body) return
  const same = hadFocus.isConnected ? hadFocus : hadFocus.id && document.getElementById(hadFocus.id)
  const heading = document.getElementById(detailOf(event).target.id)?.querySelector('[tabindex="-1"]')
  const next = /** @type {HTMLElement | null | undefined} */ (same || heading)
  next?.focus({ preventScroll: true })
})

/** @param {EventTarget | null} target */
const isTyping = target => target instanceof Element && target.matches('input, textarea, select, [contenteditable]')

/** Moves the focus along the rows or tiles of a list. @param {number} step */
const moveInList = step => {
  const items = all(document, '[data-item]')
  const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement))
  items[Math.max(0, Math.min(items.length - 1, at + step))]?.focus()
}

let isAfterG = false
document.addEventListener('keydown', event => {
  const { key, target } = event
  // A key that is held sends no form again.
  if (event.repeat && key === 'Enter' && !(target instanceof HTMLTextAreaElement && !event.ctrlKey && !event.metaKey)) {
    event.preventDefault()
    return
  }
  if (target instanceof HTMLInputElement && target.role === 'combobox') findByKey(event, target)
  const tab = target instanceof Element && closest(target, '[role=tab]')
  if (tab && (key === 'ArrowRight' || key === 'ArrowLeft')) {
    const tabs = tab.parentElement ? all(tab.parentElement, '[role=tab]') : []
    const next = tabs.at((tabs.indexOf(tab) + (key === 'ArrowRight' ? 1 : -1)) % tabs.length)
    if (next) {
      selectTab(next)
      next.focus()
    }
    return
  }
  if ((event.metaKey || event.ctrlKey) && key === 'k') {
    event.preventDefault()
    openDialog('finder')
    return
  }
  if ((event.metaKey || event.ctrlKey) && key === 'Enter') {
    const form = target instanceof Element && /** @type {HTMLFormElement | null} */ (target.closest('form'))
    if (form) form.requestSubmit()
    return
  }
  if (event.metaKey || event.ctrlKey || event.altKey || isTyping(target)) return
  if (isAfterG) {
    isAfterG = false
    const place = document.querySelector(`#shortcuts [data-key="${CSS.escape(key)}"]`)
    if (place instanceof HTMLAnchorElement) location.assign(place.href)
    return
  }
  if (key === 'g') {
    isAfterG = true
    setTimeout(() => {
      isAfterG = false
    }, 1500)
  } else if (key === '/' || key === '?') {
    event.preventDefault()
    openDialog(key === '/' ? 'finder' : 'shortcuts')
  } else if (key === 'j') moveInList(1)
  else if (key === 'k') moveInList(-1)
})

// A code has eight boxes for its letters, and none for its hyphen. What is typed after Enter is another search.
document.addEventListener('input', ({ target }) => {
  opensFirst = false
  if (!(target instanceof HTMLInputElement) || target.autocomplete !== 'one-time-code') return
  if (/[\s-]/.test(target.value)) target.value = target.value.replaceAll(/[\s-]/g, '')
})

document.addEventListener('htmx:load', event => prepare(/** @type {Element} */ (event.target)))
prepare(document)

export { tell }
