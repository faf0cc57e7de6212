// Draws the waveforms of sounds.

/** The columns of a waveform. */
const COLUMNS = 150

/** @param {HTMLElement} frame */
const draw = async frame => {
  const path = frame.querySelector('path')
  if (!path) return
  const bytes = await (await fetch(frame.dataset['wave'] ?? '')).arrayBuffer()
  const sound = await new OfflineAudioContext(1, 1, 8000).decodeAudioData(bytes)
  const samples = sound.getChannelData(0)
  const each = Math.max(1, Math.floor(samples.length / COLUMNS))
  const bars = Array.from({ length: COLUMNS }, (_, at) => {
    let loudest = 0
    for (let index = at * each; index < Math.min(samples.length, (at + 1) * each); index++)
      loudest = Math.max(loudest, Math.abs(samples[index] ?? 0))
    const half = Math.max(1, Math.round(loudest * 56))
    return `M${at * 4 + 2} ${60 - half}V${60 + half}`
  })
  path.setAttribute('d', bars.join(''))
}

/** Each frame once. A sound that cannot be decoded keeps its line. */
const drawAll = () => {
  const frames = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-wave]:not([data-drawn])'))
  for (const frame of frames) {
    frame.dataset['drawn'] = ''
    void draw(frame).catch(() => undefined)
  }
}

drawAll()
document.addEventListener('htmx:load', drawAll)
