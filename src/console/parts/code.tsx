import type { Children } from '#jsx/jsx-runtime'
import { Icon } from './icon.tsx'

/** Copies the text of the element with an ID. It needs a script, so it is hidden without one. */
export const CopyButton = ({ of, label = 'Copy', main = false }: { of: string; label?: string; main?: boolean }) => (
  <button type="button" class={main ? 'main' : 'quiet'} data-copies={of} hidden>
    <Icon name="copy" />
    {label}
  </button>
)

/** Text to copy, such as a command. The block takes the focus, so that people can scroll it with the keyboard. */
export const Code = ({ id, label, children }: { id?: string; label: string; children: Children }) => (
  <section class="code" aria-label={label} tabindex={0}>
    <code id={id}>{children}</code>
  </section>
)
