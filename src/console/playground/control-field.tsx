import type { Children } from '#jsx/jsx-runtime'
import { Icon } from '../parts/icon.tsx'
import { decimal } from '../parts/text.ts'
import type { Control, Option } from './controls.ts'

/** The name of the field of a parameter in a form. */
export const fieldName = (parameter: string): string => `in.${parameter}`

const idOf = ({ name }: Control) => `in-${name}`

export interface ControlFieldProps {
  control: Control
  fault?: string | undefined
  /** The file types that each kind of file may have. */
  accepts: Readonly<Record<'image' | 'video', readonly string[]>>
  /** Whether pages may load the file at an address. */
  isOwnFile(url: string): boolean
}

/** The control of a parameter with its label and its fault. */
export const ControlField = (props: ControlFieldProps) => {
  const { control, fault } = props
  const { kind, hint, label, description, isFurther } = control
  const note = isFurther && <p class="hint">{description}</p>
  if (kind === 'switch')
    return (
      <div class="field">
        <label class="switch" {...(!isFurther && { title: description })}>
          <input type="checkbox" name={fieldName(control.name)} value="on" checked={control.value === 'on'} />
          {label}
        </label>
        {note}
        <FaultSlot control={control} fault={fault} />
      </div>
    )
  if (kind === 'segments' || kind === 'chips')
    return (
      <fieldset class={isNarrow(control) ? 'field narrow' : 'field'} {...(!isFurther && { title: description })}>
        <legend>
          {label}
          {hint !== undefined && <span class="hint">{hint}</span>}
        </legend>
        {kind === 'segments' ? <Segments control={control} /> : <Chips control={control} />}
        {note}
        <FaultSlot control={control} fault={fault} />
      </fieldset>
    )
  return (
    <div class={isNarrow(control) ? 'field narrow' : 'field'} {...(!isFurther && { title: description })}>
      <label for={idOf(control)}>
        {label}
        {kind === 'prose' && control.maxLength !== undefined ? (
          <span class="hint" data-count={idOf(control)} data-limit={control.maxLength}>
            {`${decimal([...control.value].length)} / ${decimal(control.maxLength)}`}
          </span>
        ) : (
          hint !== undefined && <span class="hint">{hint}</span>
        )}
      </label>
      <Entry {...props} />
      {note}
      <FaultSlot control={control} fault={fault} />
    </div>
  )
}

/** Segments of a total length that fits into half of the form. */
const MAX_NARROW_LENGTH = 12

const isNarrow = ({ kind, options = [] }: Control) =>
  kind === 'stepper' ||
  kind === 'number' ||
  (kind === 'segments' && options.map(({ label }) => label).join('').length <= MAX_NARROW_LENGTH)

/** The place of a control's fault, which stays while there is none. `replaces` says that it replaces the one shown. */
export const FaultSlot = ({
  control,
  fault,
  replaces = false,
}: {
  control: Control
  fault: string | undefined
  replaces?: boolean
}) => (
  <p
    class="fault"
    id={`${idOf(control)}-fault`}
    aria-live="polite"
    hidden={fault === undefined}
    {...(replaces && { 'hx-swap-oob': 'true' })}
  >
    {fault === undefined ? '' : `${control.label} ${fault}`}
  </p>
)

const common = (control: Control, fault: string | undefined) => ({
  id: idOf(control),
  name: fieldName(control.name),
  'aria-describedby': `${idOf(control)}-fault`,
  ...(fault !== undefined && { 'aria-invalid': 'true' }),
})

const Entry = ({ control, fault, accepts, isOwnFile }: ControlFieldProps) => {
  const { kind, value, options, minimum, maximum, step, isRequired, fileKind } = control
  const attributes = common(control, fault)
  switch (kind) {
    case 'prose':
      return (
        <textarea {...attributes} {...(isRequired && { required: true })}>
          {value}
        </textarea>
      )
    case 'json':
      return (
        <textarea {...attributes} class="mono" spellcheck="false" placeholder="JSON">
          {value}
        </textarea>
      )
    case 'select':
      return (
        <select {...attributes}>
          {options?.map(option => (
            <option key={option.value} value={option.value} selected={option.value === value}>
              {option.label}
            </option>
          ))}
        </select>
      )
    case 'number':
    case 'stepper': {
      const range = { min: minimum, max: maximum, step: step ?? 'any' }
      const placeholder = control.name === 'seed' ? 'random' : undefined
      const field = <input {...attributes} type="number" value={value} {...range} placeholder={placeholder} />
      return kind === 'number' ? field : <Stepper control={control}>{field}</Stepper>
    }
    case 'file':
      return (
        <DropZone
          {...{ control, isImage: fileKind === 'image', accept: accepts[fileKind ?? 'image'].join(',') }}
          isShown={isOwnFile(value)}
        >
          <input {...attributes} type="text" inputmode="url" value={value} placeholder="https://…" autocomplete="off" />
        </DropZone>
      )
    default:
      return <input {...attributes} type="text" value={value} autocomplete="off" />
  }
}

/** A small number with buttons beside it, which need a script. */
const Stepper = ({ control: { label }, children }: { control: Control; children: Children }) => (
  <div class="stepper">
    <button type="button" class="quiet" data-step="-1" aria-label={`Less: ${label}`} hidden>
      <Icon name="minus" />
    </button>
    {children}
    <button type="button" class="quiet" data-step="1" aria-label={`More: ${label}`} hidden>
      <Icon name="plus" />
    </button>
  </div>
)

const choiceOf = (control: Control, { value }: Option) => ({
  name: fieldName(control.name),
  value,
  checked: value === control.value,
  'aria-describedby': `${idOf(control)}-fault`,
})

const Segments = ({ control }: { control: Control }) => (
  <div class="segments">
    {control.options?.map(option => (
      <label key={option.value}>
        <input type="radio" {...choiceOf(control, option)} />
        {option.label}
      </label>
    ))}
  </div>
)

/** The chips that show at once. */
const MAX_CHIPS = 8

/** The proportions that people ask for most, as width by height. */
const USUAL = [1, 4 / 3, 3 / 2, 16 / 9, 3 / 4, 2 / 3, 9 / 16]

const isUsual = ({ shape }: Option) => !shape || USUAL.includes(shape.width / shape.height)

const Chips = ({ control }: { control: Control }) => {
  const { options = [], value } = control
  const first = options.length > MAX_CHIPS ? options.filter(isUsual).slice(0, MAX_CHIPS) : options
  const rest = options.filter(option => !first.includes(option))
  const chip = (option: Option) => (
    <label class="chip" key={option.value}>
      <input type="radio" {...choiceOf(control, option)} />
      {option.shape && <Shape {...option.shape} />}
      {option.label}
    </label>
  )
  return (
    <div class="chips">
      {first.map(chip)}
      {rest.length > 0 && (
        <details open={rest.some(option => option.value === value)}>
          <summary class="chip" aria-label={`+${rest.length} more`}>
            +{rest.length}
          </summary>
          <div class="chips">{rest.map(chip)}</div>
        </details>
      )}
    </div>
  )
}

/** The room for a shape, and the least side that can still be seen. */
const SHAPE = { width: 18, height: 13, least: 5 }

/** An aspect ratio, drawn. */
const Shape = ({ width, height }: { width: number; height: number }) => {
  const scale = Math.min(SHAPE.width / width, SHAPE.height / height)
  const [w, h] = [width, height].map(side => Math.max(SHAPE.least, Math.round(side * scale))) as [number, number]
  return (
    <svg class="shape" width={w} height={h} viewBox={`0 0 ${w} ${h}`} aria-hidden="true">
      <rect x="0.75" y="0.75" width={w - 1.5} height={h - 1.5} rx="1.5" />
    </svg>
  )
}

interface DropZoneProps {
  control: Control
  isImage: boolean
  accept: string
  /** Whether to show the file. */
  isShown: boolean
  children: Children
}

/** Takes a file by drag and drop, paste, a picker or the camera. Without scripts, only the field for its address. */
const DropZone = ({ control, isImage, accept, isShown, children }: DropZoneProps) => (
  <div class="drop" data-drop={idOf(control)}>
    {isShown &&
      (isImage ? (
        <img src={control.value} alt="" />
      ) : (
        <video src={control.value} muted playsinline preload="metadata" aria-label={control.label} />
      ))}
    <div class="ask" hidden>
      <Icon name="image" />
      <p>
        Drop, paste or{' '}
        <label class="link">
          choose a file
          <input type="file" class="visually-hidden" accept={accept} />
        </label>
        <span class="camera">
          {' or '}
          <label class="link">
            use the camera
            <input type="file" class="visually-hidden" accept={isImage ? 'image/*' : 'video/*'} capture="environment" />
          </label>
        </span>
      </p>
      <p class="hint">{isImage ? 'PNG, JPEG, WebP, GIF, AVIF up to 50 MB' : 'MP4, WebM, QuickTime up to 50 MB'}</p>
      <progress max="1" value="0" aria-label="Upload" hidden />
      <p class="fault" role="alert" hidden />
    </div>
    <div class="row">
      {children}
      <button type="button" class="quiet" data-clears={idOf(control)} aria-label={`Remove: ${control.label}`} hidden>
        <Icon name="x" />
      </button>
    </div>
  </div>
)
