import type { Children } from '#jsx/jsx-runtime'
import type { Run } from '../../../schemas/api/run.ts'
import type { OutputType } from '../../../schemas/catalog.ts'
import { toMicros } from '../../domain/money.ts'
import { CopyButton } from '../parts/code.tsx'
import { Button, Form } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { Sound, Wave } from '../parts/sound.tsx'
import { decimal, duration, plural } from '../parts/text.ts'
import { failureOf, refundOf, statusOf } from '../runs/run-words.ts'
import { FamilyPicture } from './family-picture.tsx'
import { UNREACHED, upTo } from './words.ts'

/** A run of the account, small. */
export interface StripItem {
  id: string
  href: string
  outputType: OutputType
  /** What it is of: the name of its model. */
  label: string
  /** A small picture of the result. */
  picture?: string | undefined
  /** The address of a film or a sound. */
  file?: string | undefined
  /** The beginning of a text. */
  text?: string | undefined
  /** Set if the run has not completed. */
  state?: { word: string; tone: string } | undefined
}

export interface StageProps {
  /** The run on the stage, with its input; undefined if there is none to show. */
  run: Run | undefined
  /** Whether the person has asked for this run, and did not just find it here. */
  isAsked: boolean
  /** A sample of the chosen model, to show in place of a result. */
  sample?: string | undefined
  /** The run whose input fills the form, while nothing has run yet. */
  filledFrom?: string | undefined
  outputType: OutputType
  /** The proportions of the result. */
  shape: { width: number; height: number }
  /** The last results of the account. */
  strip: readonly StripItem[]
  /** Where the result becomes the input of a run; undefined if no model takes it. */
  useHref: string | undefined
  /** Whether the run can be made again, and also with another seed. */
  canRepeat: boolean
  canVary: boolean
  /** The name of what repeating it does once. */
  attempt: string
}

const PLAYGROUND = '/console/playground'

/** A result, or a run on its way to one. */
export const Stage = (props: StageProps) => {
  const { run, isAsked, strip } = props
  return (
    <section
      {...{ id: 'stage', class: 'outcome', 'aria-labelledby': 'stage-heading' }}
      {...(run && { 'data-says': sentenceOf(run) })}
      {...(isAsked && { 'data-asked': true })}
    >
      <h2 id="stage-heading" class="visually-hidden" tabindex={-1}>
        Result
      </h2>
      {run ? <OneRun {...props} run={run} /> : <Nothing {...props} />}
      {strip.length > 0 && (
        <ul class="strip" aria-label="Last results">
          {strip.map(item => (
            <li key={item.id}>
              <a
                {...{ href: item.href, 'data-item': true, title: item.label, 'aria-label': nameOf(item) }}
                {...(item.id === run?.run_id && { 'aria-current': 'true' })}
              >
                <StripPicture item={item} />
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const nameOf = ({ label, state, id }: StripItem) => [label, ...(state ? [state.word] : []), id].join(', ')

const StripPicture = ({ item: { outputType, picture, file, text, state } }: { item: StripItem }) => {
  if (state) return <span class={`tile-icon tile-state ${state.tone}`}>{state.word}</span>
  if (text !== undefined)
    return (
      <span class="tile-icon tile-words" dir="auto">
        {text}
      </span>
    )
  if (file === undefined) return <FamilyPicture outputType={outputType} picture={picture} />
  if (outputType === 'video') return <video src={`${file}#t=0.1`} muted playsinline preload="metadata" tabindex={-1} />
  return (
    <span class="tile-icon" data-wave={file}>
      <Wave />
    </span>
  )
}

/** What screen readers say when the run on the stage changes. */
const sentenceOf = (run: Run): string => {
  if (run.status === 'completed') return `Completed in ${timeOf(run)}.`
  if (run.status === 'failed') return `${endOf(run)}.`
  return run.status === 'queued' ? 'The run waits for its turn.' : 'The run has begun.'
}

const endOf = (run: Run): string => [failureOf(run), ...(run.credits_refunded ? [refundOf(run)] : [])].join(' · ')

const timeOf = ({ created_at: from, completed_at: to = from }: Run) => duration(Date.parse(to) - Date.parse(from))

const Nothing = ({ strip, filledFrom, sample }: StageProps) => (
  <div class={sample === undefined ? 'shot waiting' : 'shot example'}>
    {sample === undefined ? (
      <Canvas width={16} height={9} />
    ) : (
      <>
        <img src={sample} alt="" />
        <span class="badge plain sample">Sample</span>
      </>
    )}
    <div class="message">
      <p>{strip.length === 0 ? 'Your first result appears here.' : 'The result appears here.'}</p>
      {filledFrom === undefined ? (
        <p class="small faint">The form holds an example. Its price is in the button.</p>
      ) : (
        <p class="small faint">
          Nothing has run yet. The form holds the input of{' '}
          <a class="mono" href={`/console/runs/${filledFrom}`}>
            {filledFrom}
          </a>
          .
        </p>
      )}
    </div>
  </div>
)

/** Keeps the proportions of a result that is not there yet. */
const Canvas = ({ width, height }: { width: number; height: number }) => (
  <svg class="canvas" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
    <rect width={width} height={height} />
  </svg>
)

const OneRun = (props: StageProps & { run: Run }) => {
  const { run } = props
  if (run.status === 'failed') return <Failure {...props} />
  if (run.status === 'completed') return <Result {...props} />
  return <Waiting {...props} />
}

const Waiting = ({ run, outputType, shape }: StageProps & { run: Run }) => {
  const path = `${PLAYGROUND}/runs/${run.run_id}`
  const isText = outputType === 'text'
  const follow = {
    'data-follow': isText ? `${path}/text` : `/v1/runs/${run.run_id}/events`,
    'data-stage': `${path}/stage`,
    'data-since': run.created_at,
    'data-status': run.status,
  }
  return (
    <>
      <div class={isText ? 'shot reply' : 'shot waiting'} {...follow}>
        {isText ? <p class="words" id="answer" data-answer /> : <Canvas {...shape} />}
        <div class={isText ? 'row small faint' : 'message'}>
          <progress max="1" aria-label="Progress" />
          <p>
            {run.status === 'queued' ? 'Waiting for its turn' : 'In progress'} <span class="num faint" data-elapsed />
          </p>
        </div>
      </div>
      <div class="row between wrap">
        <Facts run={run}>
          <span class={`badge ${statusOf(run).tone}`}>{statusOf(run).word}</span>
        </Facts>
        <div class="row wrap">
          <noscript>
            <a class="button" href={`${PLAYGROUND}?model=${run.model}&run=${run.run_id}`}>
              Look again
            </a>
          </noscript>
          <Form
            {...{ action: `${PLAYGROUND}/cancel`, 'hx-post': `${PLAYGROUND}/cancel`, 'hx-target': '#stage' }}
            {...{ 'hx-swap': 'outerHTML' }}
          >
            <input type="hidden" name="run" value={run.run_id} />
            <Button>
              <Icon name="x" />
              Cancel
            </Button>
          </Form>
        </div>
      </div>
    </>
  )
}

const Failure = ({ run, canRepeat, canVary, attempt }: StageProps & { run: Run }) => (
  <>
    <div class={`shot failed ${statusOf(run).tone}`} data-faulty={parameterIn(run)}>
      <Icon name="circle-alert" />
      <h2>{endOf(run)}</h2>
      {run.error && run.error.code !== 'cancelled' && <p class="muted">{run.error.message}</p>}
    </div>
    <div class="row between wrap">
      <Facts run={run}>
        <span class={`badge ${statusOf(run).tone}`}>{statusOf(run).word}</span>
      </Facts>
      <div class="row wrap">
        <Repeat {...{ run, canRepeat, canVary, attempt }} />
      </div>
    </div>
  </>
)

/** The parameter that made a run fail, which begins the message if one did. */
const parameterIn = ({ error }: Run): string | undefined =>
  error?.code === 'invalid_input' ? /^(\w+)\S*: /.exec(error.message)?.[1] : undefined

const Result = (props: StageProps & { run: Run }) => {
  const { run, outputType, useHref } = props
  const { text, urls = [], url } = run.output ?? {}
  const files = urls.length > 0 ? urls : url === undefined ? [] : [url]
  const pictures = outputType === 'image' ? files.filter(each => !each.endsWith('.txt')) : files
  const said = promptOf(run)
  return (
    <>
      {run.output?.deleted_at !== undefined && files.length === 0 ? (
        <div class="shot failed">
          <h2>The files of this run were deleted</h2>
        </div>
      ) : (
        <Files {...{ files: pictures, outputType, said }} />
      )}
      {text !== undefined && (
        <div class="shot reply">
          <p class="words" id="answer">
            {text}
          </p>
        </div>
      )}
      {run.output?.tool_calls && (
        <div class="shot reply">
          <pre class="words mono">{JSON.stringify(run.output.tool_calls, undefined, 2)}</pre>
        </div>
      )}
      <div class="row between wrap">
        <Facts run={run}>
          <span class="badge good">Completed</span>
        </Facts>
        <div class="row wrap">
          {outputType === 'text' ? (
            <CopyButton of="answer" />
          ) : (
            pictures[0] !== undefined && (
              <a class="button" href={pictures[0]} download="">
                <Icon name="download" />
                Download
              </a>
            )
          )}
          <Repeat {...props} />
          {useHref !== undefined && (
            <a class="button" href={useHref}>
              <Icon name="arrow-right-to-line" />
              Use as input
            </a>
          )}
        </div>
      </div>
      {run.provider === 'sandbox' && <SandboxNote run={run} outputType={outputType} />}
    </>
  )
}

const SAMPLES: Readonly<Record<OutputType, string>> = {
  image: 'It draws landscapes from the words that it knows.',
  video: 'Its videos show landscapes from the words that it knows.',
  audio: 'It plays tones and chords in place of voices and bands.',
  text: 'It only shows that the prompt arrived.',
}

/** Says why the result is not what the model would make. A test run is a sample on purpose. */
const SandboxNote = ({ run, outputType }: { run: Run; outputType: OutputType }) => (
  <p class="sandbox-note">
    {run.livemode ? (
      <>
        This service had no provider for this model, so the sandbox made a sample, and charged as the model would.{' '}
        {SAMPLES[outputType]} The operator connects real models: see <a href="/docs/providers">Providers</a>.
      </>
    ) : (
      <>A sample by the built-in sandbox, and no vendor was called. {SAMPLES[outputType]}</>
    )}
  </p>
)

const Files = ({ files, outputType, said }: { files: readonly string[]; outputType: OutputType; said: string }) => {
  if (files.length === 0) return null
  if (outputType === 'video')
    return (
      <div class="shot">
        {/* biome-ignore lint/a11y/useMediaCaption: models make films without captions */}
        <video src={files[0]} controls loop playsinline preload="metadata" aria-label={said} data-result />
      </div>
    )
  if (outputType === 'audio')
    return (
      <div class="shot">
        <Sound src={files[0]} label={said} />
      </div>
    )
  if (outputType === 'text') return null
  const pictures = files.map((file, at) => (
    <a class="shot" href={file} key={file} aria-label={`Open image ${at + 1} of ${files.length}`}>
      <img src={file} alt={said} {...(at === 0 && { 'data-result': true })} />
    </a>
  ))
  return <div class={files.length === 1 ? 'one' : 'several'}>{pictures}</div>
}

const promptOf = ({ input = {}, model }: Run): string => {
  const { prompt, text } = input
  return typeof prompt === 'string' ? prompt : typeof text === 'string' ? text : `A result of ${model}`
}

const Facts = ({ run, children }: { run: Run; children: Children }) => {
  const { input = {}, usage } = run
  const facts = [
    ...(run.completed_at === undefined ? [] : [timeOf(run)]),
    ...(typeof input['seed'] === 'number' ? [`seed ${input['seed']}`] : []),
    ...(usage ? [`${decimal(usage.input_tokens)} tokens in, ${decimal(usage.output_tokens)} out`] : []),
    ...(run.status === 'completed' ? [costOf(run)] : []),
  ]
  return (
    <p class="row wrap facts-line">
      {children}
      <span class="muted">
        <span data-size />
        {facts.join(' · ')}
      </span>
      <a class="link" href={`/console/runs/${run.run_id}`}>
        Details
      </a>
    </p>
  )
}

const costOf = ({ livemode, credits_charged: charged, credits_released: released = 0 }: Run) =>
  livemode ? plural((toMicros(charged) - toMicros(released)) / 1_000_000, 'credit') : 'cost nothing'

/** What a run costs once more. Its tokens may be fewer. */
const AgainPrice = ({ run: { usage, credits_charged: charged } }: { run: Run }) => (
  <span class="faint num">
    for {usage ? upTo(charged) : decimal(charged)}
    <span class="visually-hidden"> credits</span>
  </span>
)

interface RepeatProps extends Pick<StageProps, 'canRepeat' | 'canVary' | 'attempt'> {
  run: Run
}

/** Runs the same input again. The price of the last time is the most that it may cost. */
const Repeat = ({ run, canRepeat, canVary, attempt }: RepeatProps) =>
  canRepeat ? (
    <Form
      {...{ action: `${PLAYGROUND}/again`, class: 'row wrap', 'hx-post': `${PLAYGROUND}/again`, 'hx-target': '#stage' }}
      {...{ 'hx-swap': 'outerHTML', 'hx-disabled-elt': 'find button', 'data-unreached': UNREACHED }}
    >
      <input type="hidden" name="run" value={run.run_id} />
      <input type="hidden" name="price" value={toMicros(run.livemode ? run.credits_charged : 0)} />
      <input type="hidden" name="attempt" value={attempt} />
      <Button>
        <Icon name="rotate-cw" />
        Again {run.livemode && <AgainPrice run={run} />}
      </Button>
      {canVary && (
        <Button name="vary" value="seed" class="hide-small">
          <Icon name="dices" />
          Vary the seed {run.livemode && <AgainPrice run={run} />}
        </Button>
      )}
    </Form>
  ) : null
