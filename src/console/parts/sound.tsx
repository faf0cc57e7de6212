import { Icon } from './icon.tsx'

interface SoundProps {
  src: string | undefined
  label: string
}

/** A sound with its waveform, which `sound.js` draws. */
export const Sound = ({ src, label }: SoundProps) => (
  <div class="sound" data-wave={src}>
    <Wave />
    {/* biome-ignore lint/a11y/useMediaCaption: models make sounds without captions */}
    <audio src={src} controls preload="metadata" aria-label={label} />
  </div>
)

/** The same in small: a button plays it, if scripts do. */
export const SmallSound = ({ src, label }: SoundProps) => (
  <div class="sound small-sound" data-wave={src}>
    <Wave />
    {/* biome-ignore lint/a11y/useMediaCaption: models make sounds without captions */}
    <audio src={src} preload="none" />
    <button type="button" class="on-picture" data-plays aria-label={`Play: ${label}`} aria-pressed="false" hidden>
      <Icon name="play" />
      <Icon name="pause" />
    </button>
  </div>
)

/** A line until its sound is decoded. Its parent names the sound by `data-wave`. */
export const Wave = () => (
  <svg class="wave" viewBox="0 0 600 120" preserveAspectRatio="none" aria-hidden="true">
    <path d="M0 60H600" />
  </svg>
)
