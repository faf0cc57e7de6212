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
