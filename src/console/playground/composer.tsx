import type { ModelFamily } from '../../../schemas/api/model.ts'
import { Button, Fault, Form } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { FamilyPrice } from '../parts/model-list.tsx'
import { ControlField, type ControlFieldProps, FaultSlot } from './control-field.tsx'
import type { Control } from './controls.ts'
import { FamilyPicture, sampleFor } from './family-picture.tsx'
import { Requests, type RequestsProps, requestId } from './requests.tsx'
import { OUTPUTS, type Price, UNREACHED } from './words.ts'

export interface ComposerProps extends RequestsProps, Pick<ControlFieldProps, 'accepts' | 'isOwnFile'> {
  family: ModelFamily
  /** The ID of the endpoint that the input chooses. */
  endpoint: string
  controls: readonly Control[]
  view: 'form' | 'json'
  /** The input as the person sees it in the view for JSON. */
  json: string
  /** The faults of fields by parameter. */
  faults: Readonly<Record<string, string>>
  /** The fault of the whole form. */
  fault?: string | undefined
  price: Price | undefined
  /** Whether the sandbox does the run, which is charged all the same. */
  isSampled: boolean
  /** Where the next example is. */
  exampleHref: string | undefined
  attempt: string
  /** Whether the form is filled as the person wanted, so that only the button is left to press. */
  isReady?: boolean
}

const PLAYGROUND = '/console/playground'

/** The model, its input as a form or as JSON, and the button with the price. */
export const Composer = (props: ComposerProps) => {
  const { endpoint, view, json, faults, fault, price, exampleHref, isSampled, isReady, attempt } = props
  return (
    <Form
      {...{ action: PLAYGROUND, id: 'composer', class: 'compose', 'aria-label': 'Request', novalidate: true }}
      {...{ 'hx-post': PLAYGROUND, 'hx-target': '#stage', 'hx-swap': 'outerHTML' }}
      {...{ 'hx-disabled-elt': '#run', 'hx-sync': 'this:drop', 'hx-disinherit': '*', 'data-unreached': UNREACHED }}
    >
      {/* Enter in a field runs, and does not switch the view. */}
      <button type="submit" hidden>
        Run
      </button>
      <input type="hidden" name="model" value={props.family.id} />
      <input type="hidden" name="endpoint" value={endpoint} />
      <input type="hidden" name="shown" value={view} />
      <Attempt name={attempt} />
      <ModelCard {...props} />
      <div class="row between">
        <fieldset class="segments modes">
          <legend class="visually-hidden">View</legend>
          <ViewButton view="form" label="Form" shown={view} />
          <ViewButton view="json" label="JSON" shown={view} />
        </fieldset>
        {exampleHref !== undefined && (
          <a class="link small" href={exampleHref}>
            Fill in an example
          </a>
        )}
      </div>
      <Fault text={fault} />
      {view === 'form' ? (
        <Controls {...props} />
      ) : (
        <div class="field" id="entry" tabindex={-1}>
          <label for="json">
            Input<span class="hint">of {endpoint}</span>
          </label>
          <textarea
            {...{ id: 'json', name: 'json', class: 'mono', spellcheck: 'false', 'aria-describedby': 'json-faults' }}
            {...(Object.keys(faults).length > 0 && { 'aria-invalid': 'true' })}
          >
            {json}
          </textarea>
          <JsonFaults faults={faults} />
        </div>
      )}
      <div class="run-bar" data-failures>
        <Button id="run" class="main big wide" {...(isReady && { autofocus: true })}>
          <RunLabel price={price} />
          <kbd class="hide-small">Ctrl ↵</kbd>
        </Button>
        <div
          {...{
            id: 'price',
            class: 'row wrap between small faint',
            'hx-post': `${PLAYGROUND}/price`,
            'hx-target': 'this',
          }}
          {...{
            'hx-trigger': 'input from:#composer delay:300ms, change from:#composer delay:300ms, refresh',
            'hx-sync': 'this:replace',
          }}
        >
          <PriceLine {...{ price, faults }} />
        </div>
        {isSampled && <p class="small muted">The sandbox makes a sample, charged all the same.</p>}
        <PriceShown price={price} />
        <noscript>
          <p class="small faint">
            The price is for the choices as they were loaded. <ViewButton view={view} label="Update the price" />
          </p>
        </noscript>
      </div>
    </Form>
  )
}

/** Names what a form does once, however often it is sent. */
export const Attempt = ({ name, replaces = false }: { name: string; replaces?: boolean }) => (
  <input
    {...{ type: 'hidden', id: 'attempt', name: 'attempt', value: name }}
    {...(replaces && { 'hx-swap-oob': 'true' })}
  />
)

/** The form again, for the choices that the person has just made, beside the requests for them. */
export const ComposerAndRequests = (props: ComposerProps) => (
  <>
    <Composer {...props} />
    <Requests {...props} replaces />
  </>
)

const ModelCard = ({ family }: ComposerProps) => (
  <div class="model">
    <FamilyPicture outputType={family.output_type} picture={sampleFor(family)} />
    <div class="grow">
      <h2 class="cut">{family.name}</h2>
      <p class="small faint">
        {OUTPUTS[family.output_type]} · <FamilyPrice family={family} />
      </p>
    </div>
    <a class="button quiet" href={`${PLAYGROUND}/models?model=${family.id}`} aria-label="Change the model">
      Change
    </a>
  </div>
)

/** Shows the same input in a view. */
const ViewButton = ({ view, label, shown }: { view: 'form' | 'json'; label: string; shown?: 'form' | 'json' }) => (
  <button
    {...{ type: 'submit', name: 'view', value: view, formaction: `${PLAYGROUND}/form`, formnovalidate: true }}
    {...{ 'hx-post': `${PLAYGROUND}/form`, 'hx-target': '#composer', 'hx-swap': 'outerHTML' }}
    // The answer to an older state of the form would take away what has come since, such as a file.
    {...{ 'hx-sync': 'this:replace' }}
    {...(shown && { 'aria-pressed': String(view === shown) })}
    {...(view === shown && { 'data-refresh': true })}
    {...(shown && { id: `view-${view}` })}
  >
    {label}
  </button>
)

const Controls = ({ controls, faults, accepts, isOwnFile }: ComposerProps) => {
  const field = (control: Control) => (
    <ControlField key={control.name} {...{ control, fault: faults[control.name], accepts, isOwnFile }} />
  )
  const further = controls.filter(({ isFurther }) => isFurther)
  return (
    <>
      <div class="controls" id="entry" tabindex={-1}>
        {controls.filter(({ isFurther }) => !isFurther).map(field)}
      </div>
      {further.length > 0 && (
        <details class="further" open={further.some(({ name }) => faults[name] !== undefined)}>
          <summary>
            <Icon name="sliders-horizontal" />
            More options
            <span class="hint cut">{further.map(({ label }) => label.toLowerCase()).join(', ')}</span>
          </summary>
          <div class="controls">{further.map(field)}</div>
        </details>
      )}
    </>
  )
}

const JsonFaults = ({ faults, replaces = false }: { faults: ComposerProps['faults']; replaces?: boolean }) => (
  <div id="json-faults" class="field" aria-live="polite" {...(replaces && { 'hx-swap-oob': 'true' })}>
    {Object.entries(faults).map(([name, fault]) => (
      <p class="fault" key={name}>
        {`${name} ${fault}`.trim()}
      </p>
    ))}
  </div>
)

const RunLabel = ({ price, replaces = false }: { price: Price | undefined; replaces?: boolean }) => (
  <span id="run-label" {...(replaces && { 'hx-swap-oob': 'true' })}>
    {price?.button ?? 'Run'}
  </span>
)

/** The price that the person sees. A run that costs more asks again. */
const PriceShown = ({ price, replaces = false }: { price: Price | undefined; replaces?: boolean }) => (
  <input
    {...{ type: 'hidden', id: 'price-shown', name: 'price', value: price?.micros ?? '' }}
    {...(replaces && { 'hx-swap-oob': 'true' })}
  />
)

const PriceLine = ({ price, faults }: Pick<ComposerProps, 'price' | 'faults'>) =>
  price ? (
    <>
      {price.likely !== undefined && <span>{price.likely}</span>}
      <span class="mono small">{price.formula}</span>
      {price.isAffordable ? (
        <span class="num">{price.leaves}</span>
      ) : (
        <a class="num red" href="/console/credits">
          {price.leaves}
        </a>
      )}
    </>
  ) : (
    <span>{Object.keys(faults).length > 0 ? 'The price shows when the form is right.' : 'There is no price yet.'}</span>
  )

/** The price of what the person has entered, its faults, and the requests for it. */
export const PriceUpdate = ({ price, controls, view, faults, examples }: ComposerProps) => (
  <>
    <PriceLine {...{ price, faults }} />
    <RunLabel price={price} replaces />
    <PriceShown price={price} replaces />
    {view === 'form' ? (
      controls.map(control => <FaultSlot key={control.name} control={control} fault={faults[control.name]} replaces />)
    ) : (
      <JsonFaults faults={faults} replaces />
    )}
    {examples.map(({ client, code }) => (
      <code key={client} id={requestId(client)} hx-swap-oob="true">
        {code}
      </code>
    ))}
  </>
)
