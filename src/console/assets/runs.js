// What moves on the pages of runs: an open run is read again as soon as it changes.

/** The stream of the run that the page follows. @type {EventSource | undefined} */
let source

const follow = () => {
  const frame = /** @type {HTMLElement | null} */ (document.querySelector('[data-follows]'))
  if (!frame) {
    source?.close()
    source = undefined
    tellEnd()
    return
  }
  if (source) return
  source = new EventSource(`/v1/runs/${frame.dataset['follows']}/events`)
  source.addEventListener('progress', event => {
    const bar = document.querySelector('[data-follows] progress')
    if (bar) bar.setAttribute('value', String(JSON.parse(event.data).progress))
  })
  source.addEventListener('run', () => document.body.dispatchEvent(new Event('refresh')))
  // The page also reads the run again by itself.
  source.addEventListener('error', () => source?.close())
}

let isOpen = document.querySelector('[data-follows]') !== null

/** Tells screen readers that the run has ended while they were on the page. */
const tellEnd = () => {
  const ended = /** @type {HTMLElement | null} */ (document.querySelector('[data-told]'))
  const status = document.getElementById('status')
  if (isOpen && ended && status) status.textContent = ended.dataset['told'] ?? ''
  isOpen = false
}

document.addEventListener('htmx:load', follow)
follow()

// A drag over the bars narrows the list to their time.

/** @param {Event} event */
const barAt = event => /** @type {SVGAElement | null} */ (/** @type {Element} */ (event.target).closest('.bars a'))

/** @type {SVGAElement | undefined} */
let first
/** @type {SVGAElement | undefined} */
let last

/** The bars from the first to the last, in the order of time. */
const dragged = () => {
  const bars = [...document.querySelectorAll('.bars a')]
  const [start, end] = [bars.indexOf(/** @type {Element} */ (first)), bars.indexOf(/** @type {Element} */ (last))]
  return first && last ? bars.slice(Math.min(start, end), Math.max(start, end) + 1) : []
}

const period = new Intl.DateTimeFormat('en', {
  ...{ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
  ...{ hourCycle: 'h23', timeZone: 'UTC' },
})

document.addEventListener('pointerdown', event => {
  first = barAt(event) ?? undefined
  last = undefined
})
// The browser would drag the link itself, or select text.
for (const name of ['mousedown', 'dragstart'])
  document.addEventListener(name, event => {
    if (barAt(event)) event.preventDefault()
  })
document.addEventListener('pointermove', event => {
  const bar = first && barAt(event)
  if (!bar || (bar === first && !last)) return
  last = bar
  const chosen = dragged()
  for (const each of document.querySelectorAll('.bars a')) each.classList.toggle('dragged', chosen.includes(each))
  const [start, end] = [chosen[0]?.getAttribute('data-from'), chosen.at(-1)?.getAttribute('data-to')]
  const shown = document.getElementById('dragged')
  if (shown && start && end) shown.textContent = `${period.formatRange(new Date(start), new Date(end))} UTC`
})
document.addEventListener('pointerup', () => {
  const chosen = dragged()
  first = undefined
  if (chosen.length < 2) return
  const [from, to] = [chosen[0]?.getAttribute('data-from'), chosen.at(-1)?.getAttribute('data-to')]
  const url = new URL(location.href)
  url.searchParams.set('from', from ?? '')
  url.searchParams.set('to', to ?? '')
  url.searchParams.delete('cursor')
  location.assign(url)
})
// One menu is open at a time, and closes with Escape or a click elsewhere.
document.addEventListener('click', event => {
  if (last) event.preventDefault()
  last = undefined
  for (const menu of document.querySelectorAll('details.menu[open]'))
    if (!menu.contains(/** @type {Node} */ (event.target))) menu.removeAttribute('open')
})
document.addEventListener('keydown', event => {
  const menu = event.key === 'Escape' && document.querySelector('details.menu[open]')
  if (!menu) return
  menu.removeAttribute('open')
  menu.querySelector('summary')?.focus()
})

// The film of a tile plays while the pointer is over it.

const still = matchMedia('(prefers-reduced-motion: reduce)')

/** @param {Event} event */
const filmOf = event =>
  event.target instanceof Element && event.target.matches('.tile') ? event.target.querySelector('video') : null

// These events do not bubble.
document.addEventListener(
  'pointerenter',
  event => {
    if (event.pointerType === 'mouse' && !still.matches)
      void filmOf(event)
        ?.play()
        .catch(() => undefined)
  },
  true,
)
document.addEventListener('pointerleave', event => filmOf(event)?.pause(), true)

// A search narrows the choices of its menu, and Enter takes the first of them.

for (const search of document.querySelectorAll('[data-narrows]')) search.removeAttribute('hidden')

/** @param {EventTarget | null} target */
const choicesOf = target => {
  const search = target instanceof HTMLInputElement && target.matches('[data-narrows]') ? target : undefined
  return { search, choices: [...(search?.parentElement?.querySelectorAll('a') ?? [])] }
}

document.addEventListener('input', ({ target }) => {
  const { search, choices } = choicesOf(target)
  const text = search?.value.trim().toLowerCase() ?? ''
  for (const choice of choices) choice.hidden = !choice.textContent?.toLowerCase().includes(text)
})
document.addEventListener('keydown', event => {
  const { choices } = choicesOf(event.target)
  if (event.key === 'Enter') choices.find(choice => !choice.hidden)?.click()
})
