// What moves in the playground: uploads, steppers, counts, and results as they arrive. Without it, the form works too.

/** @typedef {{ ajax(method: string, path: string, options: object): Promise<void>, trigger(element: Element, event: string): void }} Htmx */

const htmx = /** @type {Window & { htmx?: Htmx }} */ (window).htmx

/** How long to wait before a run that cannot be followed is asked for again. */
const RETRY_MS = 2000

/**
 * @template {HTMLElement} E
 * @param {ParentNode} root
 * @param {string} selector
 */
const all = (root, selector) => [.../** @type {NodeListOf<E>} */ (root.querySelectorAll(selector))]

/** @param {string} id */
const byId = id => /** @type {HTMLInputElement | null} */ (document.getElementById(id))

/** @param {string} text Told to screen readers. */
const tell = text => {
  const status = byId('status')
  if (status) status.textContent = text
}

/** Tells the form that a script has changed a field. @param {HTMLInputElement} field */
const changed = field => field.dispatchEvent(new Event('input', { bubbles: true }))

/** Shows the form for the endpoint that its files choose now. */
const refresh = () => /** @type {HTMLElement | null} */ (document.querySelector('#composer [data-refresh]'))?.click()

// Results

/** The run that is followed. @type {{ element: HTMLElement, source: EventSource, timer: number } | undefined} */
let followed

const unfollow = () => {
  followed?.source.close()
  clearInterval(followed?.timer)
  followed = undefined
}

/** @param {HTMLElement} element The frame of a run that has not ended. */
const follow = element => {
  if (followed?.element === element) return
  unfollow()
  const { follow: path = '', stage = '', since = '', status = '' } = element.dataset
  const source = new EventSource(path)
  const elapsed = element.querySelector('[data-elapsed]')
  const count = () => {
    const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(since)) / 1000))
    if (elapsed) elapsed.textContent = `${seconds} s`
  }
  followed = { element, source, timer: window.setInterval(count, 1000) }
  const isOver = () => !element.isConnected
  /** Shows the run as it is now. While the service cannot be reached, this asks again. */
  const show = async () => {
    await htmx?.ajax('GET', stage, { target: '#stage', swap: 'outerHTML' }).catch(() => undefined)
    setTimeout(() => !isOver() && show(), RETRY_MS)
  }
  source.addEventListener('progress', ({ data }) => {
    const bar = element.querySelector('progress')
    if (bar) bar.value = JSON.parse(data).progress
  })
  source.addEventListener('delta', ({ data }) => element.querySelector('[data-answer]')?.append(JSON.parse(data).text))
  source.addEventListener('run', ({ data }) => {
    if (isOver()) return unfollow()
    if (JSON.parse(data).status === status) return
    unfollow()
    void show()
  })
  source.addEventListener('error', () => {
    source.close()
    setTimeout(() => !isOver() && show(), RETRY_MS)
  })
}

/** Shows the size of a picture or film. @param {HTMLElement} result */
const measure = result => {
  const size = document.querySelector('#stage [data-size]')
  const say = (/** @type {number} */ width, /** @type {number} */ height) => {
    if (size && width > 0) size.textContent = `${width} × ${height} · `
  }
  if (result instanceof HTMLVideoElement) {
    const ready = () => say(result.videoWidth, result.videoHeight)
    if (result.readyState > 0) ready()
    else result.addEventListener('loadedmetadata', ready)
  } else if (result instanceof HTMLImageElement) {
    const ready = () => say(result.naturalWidth, result.naturalHeight)
    if (result.complete) ready()
    else result.addEventListener('load', ready)
  }
}

// Files

/**
 * @param {HTMLElement} zone
 * @param {File} file
 */
const upload = async (zone, file) => {
  const bar = /** @type {HTMLProgressElement} */ (zone.querySelector('progress'))
  const fault = /** @type {HTMLElement} */ (zone.querySelector('.ask .fault'))
  bar.hidden = false
  bar.value = 0
  fault.hidden = true
  try {
    const url = await send(file, share => {
      bar.value = share
    })
    const field = byId(zone.dataset['drop'] ?? '')
    if (!field) return
    field.value = url
    tell(`${file.name} is uploaded.`)
    refresh()
  } catch (error) {
    bar.hidden = true
    fault.hidden = false
    fault.textContent = /** @type {Error} */ (error).message
  }
}

/**
 * @param {File} file
 * @param {(share: number) => void} report
 * @returns {Promise<string>} The address of the file.
 */
const send = async (file, report) => {
  const response = await fetch('/v1/uploads/presigned', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ filename: file.name || 'file', mime_type: file.type, size_bytes: file.size }),
  }).catch(() => {
    throw new Error('The service cannot be reached. Try again in a moment.')
  })
  const grant = await response.json()
  if (!response.ok) throw new Error(grant.error?.message ?? 'The file cannot be uploaded.')
  await new Promise((resolve, reject) => {
    // Only this kind of request reports its progress.
    const request = new XMLHttpRequest()
    request.open('PUT', grant.presigned_url)
    request.setRequestHeader('Content-Type', file.type)
    request.upload.addEventListener('progress', ({ loaded, total }) => report(loaded / total))
    const fail = () => reject(new Error('The upload was cut off. Try again.'))
    request.addEventListener('error', fail)
    request.addEventListener('load', () => (request.status < 300 ? resolve(undefined) : fail()))
    request.send(file)
  })
  return grant.cdn_url
}

/** @param {EventTarget | null} target */
const zoneOf = target =>
  target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest('[data-drop]')) : null

/** The zone that takes a pasted file: the one with the focus, or else the first. @param {Event} event */
const zoneFor = event =>
  zoneOf(event.target) ?? /** @type {HTMLElement | null} */ (document.querySelector('[data-drop]'))

document.addEventListener('dragover', event => {
  const zone = zoneOf(event.target)
  for (const other of all(document, '.drop.over')) if (other !== zone) other.classList.remove('over')
  if (!zone) return
  event.preventDefault()
  zone.classList.add('over')
})
document.addEventListener('drop', event => {
  const zone = zoneOf(event.target)
  const file = event.dataTransfer?.files[0]
  if (!zone || !file) return
  event.preventDefault()
  zone.classList.remove('over')
  void upload(zone, file)
})
document.addEventListener('paste', event => {
  const file = event.clipboardData?.files[0]
  const zone = zoneFor(event)
  if (!file || !zone) return
  event.preventDefault()
  void upload(zone, file)
})
document.addEventListener('change', event => {
  const { target } = event
  const zone = zoneOf(target)
  if (!zone || !(target instanceof HTMLInputElement)) return
  const file = target.files?.[0]
  if (file) void upload(zone, file)
  // An address that somebody has written may choose another endpoint too.
  else if (target.type === 'text') refresh()
})

// Fields

document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Element)) return
  const step = /** @type {HTMLElement | null} */ (target.closest('[data-step]'))
  const field = step?.parentElement?.querySelector('input')
  if (step && field) {
    if (step.dataset['step'] === '1') field.stepUp()
    else field.stepDown()
    changed(field)
  }
  const clear = /** @type {HTMLElement | null} */ (target.closest('[data-clears]'))
  const cleared = clear && byId(clear.dataset['clears'] ?? '')
  if (cleared) {
    cleared.value = ''
    refresh()
  }
})

document.addEventListener('input', ({ target }) => {
  if (!(target instanceof HTMLTextAreaElement)) return
  for (const count of all(document, '[data-count]')) {
    if (count.dataset['count'] !== target.id) continue
    const limit = Number(count.dataset['limit'])
    const length = [...target.value].length
    count.textContent = `${length.toLocaleString('en')} / ${limit.toLocaleString('en')}`
    count.classList.toggle('red', length > limit)
  }
})

document.addEventListener('keydown', event => {
  if (!(event.metaKey || event.ctrlKey) || event.key !== 'Enter' || event.repeat) return
  // Within the form, the shortcut of all forms runs it.
  if (event.target instanceof Element && event.target.closest('form')) return
  const form = byId('composer')
  if (form instanceof HTMLFormElement) form.requestSubmit()
})

/** The fault slot of the parameter that made the run on the stage fail, until somebody changes it. */
const blamed = () => {
  const name = /** @type {HTMLElement | null} */ (document.querySelector('#stage [data-faulty]'))?.dataset['faulty']
  return name === undefined ? null : byId(`in-${name}-fault`)
}
document.addEventListener('input', ({ target }) => {
  if (target instanceof Element && target.getAttribute('aria-describedby') === blamed()?.id)
    document.querySelector('#stage [data-faulty]')?.removeAttribute('data-faulty')
})

/** Marks the fields whose faults are shown. */
const markFaults = () => {
  const fault = blamed()
  if (fault?.hidden) {
    fault.hidden = false
    fault.textContent = 'This made the run fail.'
  }
  for (const field of all(document, '#composer [aria-describedby]')) {
    const fault = byId(field.getAttribute('aria-describedby') ?? '')
    if (fault && !fault.hidden && fault.textContent) field.setAttribute('aria-invalid', 'true')
    else field.removeAttribute('aria-invalid')
  }
}

/** Shows what needs scripts, and begins what moves. */
const prepare = () => {
  for (const part of all(document, '.drop .ask, [data-step]')) part.hidden = false
  for (const clear of all(document, '[data-clears]')) clear.hidden = !byId(clear.dataset['clears'] ?? '')?.value
  const frame = /** @type {HTMLElement | null} */ (document.querySelector('#stage [data-follow]'))
  if (frame) follow(frame)
  else unfollow()
  markFaults()
}

/** @param {HTMLElement} stage */
const prepareStage = stage => {
  for (const result of all(stage, '[data-result]')) measure(result)
}

/** While a run is requested, the price waits: its answer would take away the faults of the run. */
document.addEventListener('htmx:beforeRequest', event => {
  const form = byId('composer')
  const price = byId('price')
  if (event.target === form && price) htmx?.trigger(price, 'htmx:abort')
  if (event.target === price && form?.classList.contains('htmx-request')) event.preventDefault()
})

/** A run that begins above or below the window is brought into it. */
document.addEventListener('htmx:afterRequest', event => {
  const { successful, target, requestConfig } =
    /** @type {CustomEvent<{ successful: boolean, target: Element, requestConfig: { verb: string } }>} */ (event).detail
  const stage = byId('stage')
  if (!successful || target.id !== 'stage' || requestConfig.verb !== 'post' || !stage) return
  const { top } = stage.getBoundingClientRect()
  if (top < 0 || top > innerHeight / 2) stage.scrollIntoView()
})

document.addEventListener('htmx:load', event => {
  const element = /** @type {HTMLElement} */ (event.target)
  prepare()
  if (element.id === 'stage') {
    prepareStage(element)
    tell(element.dataset['says'] ?? '')
    // The run has changed the balance.
    const price = byId('price')
    if (price) htmx?.trigger(price, 'refresh')
  }
  if (element.id === 'composer')
    /** @type {HTMLElement | null} */ (element.querySelector('[aria-invalid=true]'))?.focus()
})
prepare()
const stage = byId('stage')
if (stage) prepareStage(stage)

export {}
