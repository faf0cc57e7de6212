import type { Children } from '#jsx/jsx-runtime'
import { Icon } from './icon.tsx'

/** Copies the text of the element with an ID. It needs a script, so it is hidden without one. */
export const CopyButton = ({ of, label = 'Copy', main = false }: { of: string; label?: string; main?: boolean }) => (
  <button type="button" class={main ? 'main' : 'quiet'} data-copies={of} hidden>
    <Icon name="copy" />
    {label}
  </button>
)

interface CodeProps {
  /** Unique on the page. */
  id: string
  label: string
  /** Whether to copy it is the main thing to do. */
  main?: boolean
  copies?: boolean
  children: Children
}

/** Text to copy, such as a command. The text takes the focus, so that people can scroll it with the keyboard. */
export const Code = ({ id, label, main = false, copies = true, children }: CodeProps) => (
  <div class="code-block">
    <div class="row between small">
      <span class="cut">{label}</span>
      {copies && <CopyButton of={id} main={main} />}
    </div>
    <section class="code" aria-label={label} tabindex={0}>
      <code id={id}>{children}</code>
    </section>
  </div>
)
