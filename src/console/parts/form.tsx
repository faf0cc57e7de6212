import type { Children } from '#jsx/jsx-runtime'
import { PageContext } from '../page-state.ts'
import { OwnerOnly } from './own.tsx'

/** The name of the field with the token of a form. */
export const FORM_TOKEN = 'form_token'

interface FormProps {
  action: string
  children: Children
  [attribute: string]: Children
}

/** A form that changes something, which an operator who looks at an account cannot do. */
export const Form = ({ action, children, ...attributes }: FormProps) => (
  <OwnerOnly>
    <form method="post" action={action} {...attributes}>
      <PageContext.Consumer>
        {({ formToken }) => <input type="hidden" name={FORM_TOKEN} value={formToken} />}
      </PageContext.Consumer>
      {children}
    </form>
  </OwnerOnly>
)

/** Sends its form. While the form is under way, the button keeps its label and cannot be pressed again. */
export const Button = ({ children, ...attributes }: { children: Children; [attribute: string]: Children }) => (
  <button type="submit" {...attributes}>
    {children}
  </button>
)

interface FieldProps {
  /** The ID of the control, which the label and the fault belong to. */
  id: string
  label: Children
  /** A short remark at the right of the label. */
  hint?: Children
  fault?: string | undefined
  children: Children
}

/** A control with its label and its fault. */
export const Field = ({ id, label, hint, fault, children }: FieldProps) => (
  <div class="field">
    <label for={id}>
      {label}
      {hint !== undefined && <span class="hint">{hint}</span>}
    </label>
    {children}
    {fault !== undefined && (
      <p class="fault" id={`${id}-fault`} role="alert">
        {fault}
      </p>
    )}
  </div>
)

/** The attributes of a control whose field has a fault. */
export const faulty = (id: string, fault: string | undefined) =>
  fault === undefined ? {} : { 'aria-invalid': 'true' as const, 'aria-describedby': `${id}-fault` }

interface SegmentsProps {
  /** The name of the field. */
  name: string
  label: Children
  options: readonly { value: string; label: Children }[]
  value: string | undefined
}

/** A choice of a few short words, as a bar. */
export const Segments = ({ name, label, options, value }: SegmentsProps) => (
  <fieldset class="field">
    <legend>{label}</legend>
    <div class="segments">
      {options.map(option => (
        <label key={option.value}>
          <input type="radio" name={name} value={option.value} checked={option.value === value} />
          {option.label}
        </label>
      ))}
    </div>
  </fieldset>
)

/** The same as chips, for words of different lengths. */
export const Chips = ({ name, label, options, value }: SegmentsProps) => (
  <fieldset class="field">
    <legend>{label}</legend>
    <div class="chips">
      {options.map(option => (
        <label class="chip" key={option.value}>
          <input type="radio" name={name} value={option.value} checked={option.value === value} />
          {option.label}
        </label>
      ))}
    </div>
  </fieldset>
)

/** The fault of a whole form or page. Screen readers read it out first. */
export const Fault = ({ text }: { text: string | undefined }) =>
  text === undefined ? null : (
    <p class="fault" role="alert">
      {text}
    </p>
  )
