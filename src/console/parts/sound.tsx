/** A sound with its waveform, which `sound.js` draws. */
export const Sound = ({ src, label }: { src: string | undefined; label: string }) => (
  <div class="sound" data-wave={src}>
    <svg class="wave" viewBox="0 0 600 120" preserveAspectRatio="none" aria-hidden="true">
      <path d="M0 60H600" />
    </svg>
    {/* biome-ignore lint/a11y/useMediaCaption: models make sounds without captions */}
    <audio src={src} controls preload="metadata" aria-label={label} />
  </div>
)
