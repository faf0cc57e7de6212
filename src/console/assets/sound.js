// Draws the waveforms of sounds when they come into view, and plays those that have only a button.

/** The width of a column and its space, in pixels. */
const COLUMN = 4

/** More columns of a short sound would show nothing more. */
const MAX_COLUMNS = 150

/** @param {HTMLElement} frame */
const draw = async frame => {
  const wave = frame.querySelector('svg')
  if (!wave) return
  const bytes = await (await fetch(frame.dataset['wave'] ?? '')).arrayBuffer()
  const sound = await new OfflineAudioContext(1, 1, 8000).decodeAudioData(bytes)
  const samples = sound.getChannelData(0)
  const columns = Math.max(1, Math.min(MAX_COLUMNS, Math.floor(wave.clientWidth / COLUMN)))
  const each = Math.max(1, Math.floor(samples.length / columns))
  const bars = Array.from({ length: columns }, (_, at) => {
    let loudest = 0
    for (let index = at * each; index < Math.min(samples.length, (at + 1) * each); index++)
      loudest = Math.max(loudest, Math.abs(samples[index] ?? 0))
    const half = Math.max(1, Math.round(loudest * 56))
    return `M${(at + 0.5) * COLUMN} ${60 - half}V${60 + half}`
  })
  wave.setAttribute('viewBox', `0 0 ${columns * COLUMN} 120`)
  wave.querySelector('path')?.setAttribute('d', bars.join(''))
}

/** A sound that cannot be decoded keeps its line. */
const seen = new IntersectionObserver(entries => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue
    seen.unobserve(target)
    void draw(/** @type {HTMLElement} */ (target)).catch(() => undefined)
  }
})

const prepare = () => {
  const frames = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-wave]:not([data-drawn])'))
  for (const frame of frames) {
    frame.dataset['drawn'] = ''
    seen.observe(frame)
    const button = /** @type {HTMLElement | null} */ (frame.querySelector('[data-plays]'))
    if (button) button.hidden = false
  }
}

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('[data-plays]') : undefined
  const sound = button?.parentElement?.querySelector('audio')
  if (sound) void (sound.paused ? sound.play() : sound.pause())
})

// These events do not bubble.
for (const name of ['play', 'pause', 'ended'])
  document.addEventListener(
    name,
    ({ target }) => {
      if (!(target instanceof HTMLAudioElement)) return
      target.parentElement?.querySelector('[data-plays]')?.setAttribute('aria-pressed', String(!target.paused))
      if (name !== 'play') return
      for (const other of document.querySelectorAll('audio')) if (other !== target) other.pause()
    },
    true,
  )

prepare()
document.addEventListener('htmx:load', prepare)
