// Sends the request of an operation with the session of the reader, and shows the answer.

/** Longer answers are cut, so that the page stays quick. */
const MAX_SHOWN = 200_000

/** The headers that tell how to go on. */
const SHOWN_HEADERS = [
  ...['content-type', 'location', 'retry-after', 'x-request-id', 'tollgate-position', 'idempotent-replayed'],
  ...['preference-applied', 'ratelimit', 'etag', 'content-disposition'],
]

const form = /** @type {HTMLFormElement | null} */ (document.getElementById('try-form'))
const answer = document.getElementById('try-answer')
const status = document.getElementById('status')

/**
 * @param {string} name
 * @param {string} [text]
 * @param {string} [className]
 */
const element = (name, text = '', className = '') => {
  const made = document.createElement(name)
  made.textContent = text
  if (className) made.className = className
  return made
}

/**
 * The request that the fields of the form make.
 * @param {HTMLFormElement} from
 */
const requestOf = from => {
  const fields = new FormData(from)
  let path = from.dataset['path'] ?? ''
  const query = new URLSearchParams()
  const headers = new Headers()
  const parts = new FormData()
  /** @type {BodyInit | undefined} */
  let body
  for (const [name, value] of fields) {
    const [place, ...rest] = name.split('.')
    const key = rest.join('.')
    const isEmpty = value === '' || (value instanceof File && value.size === 0 && value.name === '')
    if (isEmpty) continue
    if (place === 'path') path = path.replace(`{${key}}`, encodeURIComponent(String(value)))
    else if (place === 'query') query.append(key, String(value))
    else if (place === 'header') headers.set(key, String(value))
    else if (place === 'form') {
      parts.append(key, value)
      body = parts
    } else if (place === 'json') {
      headers.set('Content-Type', 'application/json')
      body = String(value)
    } else if (place === 'file') body = value
  }
  const search = query.size > 0 ? `?${query}` : ''
  return { url: path + search, init: { method: from.dataset['method'] ?? 'GET', headers, ...(body && { body }) } }
}

/**
 * Shows a body as it arrives.
 * @param {Response} response
 * @param {HTMLElement} place
 */
const showBody = async (response, place) => {
  const type = response.headers.get('Content-Type') ?? ''
  if (/^(image|audio|video)\//.test(type)) {
    const kind = type.startsWith('image/') ? 'img' : type.startsWith('audio/') ? 'audio' : 'video'
    const media = /** @type {HTMLImageElement & HTMLMediaElement} */ (element(kind))
    media.src = URL.createObjectURL(await response.blob())
    if (kind === 'img') media.alt = 'The file in the answer'
    else media.controls = true
    place.append(media)
    return
  }
  const shown = element('pre', '', 'code')
  shown.id = 'try-body'
  shown.tabIndex = 0
  place.append(shown)
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: '' }
    if (done) break
    text += value
    shown.textContent = text.slice(0, MAX_SHOWN)
  }
  if (/json/.test(type) && text.length < MAX_SHOWN) shown.textContent = pretty(text)
  if (text.length > MAX_SHOWN) place.append(element('p', `The answer is cut after ${MAX_SHOWN} characters.`, 'small'))
}

/** @param {string} text */
const pretty = text => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** @param {Response} response */
const headersOf = response => {
  const list = element('dl', '', 'facts small')
  for (const name of SHOWN_HEADERS) {
    const value = response.headers.get(name)
    if (value !== null) list.append(element('dt', name), element('dd', value, 'mono'))
  }
  return list
}

/** The request that is under way. @type {AbortController | undefined} */
let sending

/** @param {HTMLFormElement} from */
const send = async from => {
  if (!answer || sending) return
  const button = from.querySelector('button[type=submit]')
  const stop = /** @type {HTMLElement | null} */ (from.querySelector('[data-stops]'))
  sending = new AbortController()
  button?.setAttribute('aria-busy', 'true')
  if (stop) stop.hidden = false
  answer.hidden = false
  answer.replaceChildren(element('p', 'Waiting for the answer', 'muted'))
  const began = performance.now()
  try {
    const { url, init } = requestOf(from)
    const response = await fetch(url, {
      ...init,
      signal: sending.signal,
      credentials: 'same-origin',
      cache: 'no-store',
    })
    const took = `${Math.round(performance.now() - began)} ms`
    const line = element('p', '', 'row')
    line.append(
      element('span', `${response.status} ${response.statusText}`.trim(), response.ok ? 'badge good' : 'badge bad'),
      element('span', took, 'small faint num'),
    )
    answer.replaceChildren(line, headersOf(response))
    if (status) status.textContent = `The answer has the status ${response.status}`
    await showBody(response, answer)
  } catch (error) {
    const text = sending.signal.aborted
      ? 'You stopped waiting. The service may still have done the work.'
      : `No answer: ${/** @type {Error} */ (error).message}. Check your connection, and send the request again.`
    answer.append(element('p', text, 'fault'))
    if (status) status.textContent = text
  } finally {
    sending = undefined
    button?.removeAttribute('aria-busy')
    if (stop) stop.hidden = true
  }
}

// The list of pages begins at the page that is open.
const side = document.getElementById('pages')
const current = /** @type {HTMLElement | null} */ (side?.querySelector('[aria-current]'))
if (side && current) side.scrollTop = current.offsetTop - side.clientHeight / 2

if (form) {
  form.hidden = false
  form.addEventListener('submit', event => {
    event.preventDefault()
    void send(form)
  })
  form.querySelector('[data-stops]')?.addEventListener('click', () => sending?.abort())
}
