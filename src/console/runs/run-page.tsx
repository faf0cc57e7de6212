import type { WebhookDelivery } from '../../../schemas/api/delivery.ts'
import { isNestedWithin } from '../../json/levels.ts'
import { CopyButton } from '../parts/code.tsx'
import { Fact } from '../parts/fact.tsx'
import { Button, Fault, Form } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { OwnerLink, OwnerOnly, Placed } from '../parts/own.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { duration, plural } from '../parts/text.ts'
import { Ago, Moment } from '../parts/time.tsx'
import { Shell } from '../shell.tsx'
import { stateOf } from '../webhooks/delivery-words.ts'
import { JsonView } from './json-view.tsx'
import { Receipt } from './receipt.tsx'
import { endOf, Result } from './result.tsx'
import { isOpen, type RunFacts } from './run-facts.ts'
import { promptOf, providerName, statusOf, titleOf } from './run-words.ts'
import { Waterfall } from './waterfall.tsx'

/** How often the page of an open run is read again. Its events are followed beside that, and are faster. */
const REFRESH = 'every 2s, refresh from:body'

interface RunPageProps {
  facts: RunFacts
  fault?: string
}

/** One run: what it made, what happened, and what it cost. */
export const RunPage = ({ facts, fault }: RunPageProps) => (
  <Shell
    title={`Run ${facts.run.run_id}`}
    heading={
      <>
        <a href="/console/runs">Runs</a> / <bdi>{titleOf(facts)}</bdi>
      </>
    }
    scripts={['runs.js', 'sound.js']}
  >
    <div class="page">
      <Fault text={fault} />
      <RunView facts={facts} />
    </div>
  </Shell>
)

/** The part of the page that changes. While the run is open, it replaces itself. */
export const RunView = ({ facts }: { facts: RunFacts }) => {
  const { run } = facts
  const path = `/console/runs/${run.run_id}`
  return (
    <Placed>
      {placed => (
        <div
          id="run"
          class="two run"
          {...(isOpen(run)
            ? { 'hx-get': placed(path), 'hx-trigger': REFRESH, 'hx-swap': 'outerHTML', 'hx-target': 'this' }
            : { 'data-told': endOf(facts) })}
        >
          <div class="stack gap-20">
            <Result facts={facts} />
            <Prompt text={promptOf(run.input)} />
            <Waterfall facts={facts} />
            <Details facts={facts} />
          </div>
          <aside class="stack gap-20">
            <Facts facts={facts} path={path} />
            <Receipt facts={facts} />
            {facts.webhook && <Webhook webhook={facts.webhook} path={path} />}
          </aside>
        </div>
      )}
    </Placed>
  )
}

/** The card shows eight lines of the prompt, which hold so many characters on wide screens and on phones. */
const SHOWN = { lines: 8, wide: 720, narrow: 320 }

const Prompt = ({ text }: { text: string | undefined }) => {
  if (text === undefined) return null
  const json = jsonOf(text)
  const shown = json ?? text
  const length = [...shown].length
  const isLong = length > SHOWN.wide || shown.split('\n').length > SHOWN.lines
  return (
    <section class="card" aria-labelledby="prompt-title">
      <div class="head">
        <h2 id="prompt-title">Prompt</h2>
        <CopyButton of="prompt" />
      </div>
      <div class={isLong ? 'pad long' : length > SHOWN.narrow ? 'pad long narrow' : 'pad'}>
        <p class={json === undefined ? 'run-prompt' : 'run-prompt mono'} id="prompt" dir="auto">
          {shown}
        </p>
        {(isLong || length > SHOWN.narrow) && (
          <details class="small">
            <summary>Show all {plural(length, 'character')}</summary>
          </details>
        )}
      </div>
    </section>
  )
}

/** Lines that are indented for each of thousands of levels would take gigabytes. */
const MAX_LEVELS = 8

/**
 * A prompt that is JSON, in lines. Undefined if it is none, if it is nested too deeply, or if parsing would change more
 * than its spaces.
 */
const jsonOf = (text: string): string | undefined => {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    const value = JSON.parse(text)
    const isSame = JSON.stringify(value).replace(/\s/g, '') === text.replace(/\s/g, '')
    return isSame && isNestedWithin(MAX_LEVELS, value) ? JSON.stringify(value, undefined, 2) : undefined
  } catch {
    return undefined
  }
}

const Facts = ({ facts, path }: { facts: RunFacts; path: string }) => {
  const { run, modelName, runsAgain, key, steps } = facts
  const { word, tone } = statusOf(run)
  const tried = steps.filter(({ kind }) => kind === 'refused').map(({ upstream }) => upstream?.provider ?? '')
  const refused = [...new Set(tried)].filter(provider => provider !== run.provider)
  const took = run.completed_at === undefined ? undefined : Date.parse(run.completed_at) - Date.parse(run.created_at)
  const again = new URLSearchParams({ model: run.model, from: run.run_id })
  return (
    <section class="card pad stack" aria-label="Facts">
      <div class="row between wrap">
        <span class="row">
          <span class={`badge ${tone}`}>{word}</span>
          {!run.livemode && <span class="badge warn plain">test</span>}
        </span>
        <span class="row">
          {isOpen(run) && (
            <Form action={`${path}/cancel`}>
              <Button>
                <Icon name="x" />
                Cancel run
              </Button>
            </Form>
          )}
          {runsAgain && !isOpen(run) && (
            <OwnerOnly>
              <a class="button" href={`/console/playground?${again}`}>
                <Icon name="play" />
                Open in playground
              </a>
            </OwnerOnly>
          )}
        </span>
      </div>
      <dl class="facts">
        <Fact name="Model">
          {modelName}
          <div class="small faint mono">{run.endpoint}</div>
        </Fact>
        {run.provider !== undefined && (
          <Fact name="Provider">
            {providerName(run.provider)}
            {refused.length > 0 && `, after ${refused.map(providerName).join(' and ')} refused`}
          </Fact>
        )}
        <Fact name="Started">
          <Moment at={run.created_at} />
        </Fact>
        {took !== undefined && <Fact name="Took">{duration(took)}</Fact>}
        <Fact name="Key">
          {key ? (
            <>
              <bdi>{key.name}</bdi> <span class="faint">…{key.lastFour}</span>
            </>
          ) : (
            'none, from the console'
          )}
        </Fact>
        {run.label !== undefined && (
          <Fact name="Label">
            <OwnerLink href={`/console/runs?${new URLSearchParams({ label: run.label })}`}>
              <bdi>{run.label}</bdi>
            </OwnerLink>
          </Fact>
        )}
        {run.budget !== undefined && (
          <Fact name="Budget">
            <bdi>{run.budget}</bdi>
          </Fact>
        )}
        {run.usage && (
          <Fact name="Tokens">
            {run.usage.input_tokens} in, {run.usage.output_tokens} out
          </Fact>
        )}
        {run.output?.will_delete_at !== undefined && run.output.deleted_at === undefined && (
          <Fact name="Files kept until">
            <Moment at={run.output.will_delete_at} />
          </Fact>
        )}
        <div class="whole">
          <dt class="visually-hidden">ID</dt>
          <dd class="row between">
            <code class="id" id="run-id">
              {run.run_id}
            </code>
            <CopyButton of="run-id" />
          </dd>
        </div>
      </dl>
      {run.warnings?.map(({ message }) => (
        <p class="note small" key={message}>
          {message}
        </p>
      ))}
    </section>
  )
}

const Webhook = ({ webhook, path }: { webhook: WebhookDelivery; path: string }) => (
  <section class="card" aria-labelledby="webhook">
    <div class="head">
      <h2 id="webhook">Webhook</h2>
      {(webhook.status === 'delivered' || webhook.status === 'abandoned') && (
        <Form action={`${path}/webhook`}>
          <Button class="quiet">Send again</Button>
        </Form>
      )}
    </div>
    <div class="pad stack small">
      <div class="row between">
        <code class="small">{webhook.url}</code>
        <span class={`badge ${stateOf(webhook).tone}`}>{stateOf(webhook).word}</span>
      </div>
      {webhook.attempts.length > 0 && (
        <ol class="attempts">
          {webhook.attempts.map(({ attempt, at, status_code: status, error }) => (
            <li key={`${attempt} ${at}`} class="row between">
              <span>
                {error ?? 'Accepted by the receiver'}
                <span class="faint">
                  {' '}
                  <Ago at={at} />
                </span>
              </span>
              <span class={`badge plain ${error === undefined ? 'good' : 'bad'}`}>{status ?? 'no answer'}</span>
            </li>
          ))}
        </ol>
      )}
      {webhook.next_attempt_at !== undefined && (
        <p class="faint">
          Next attempt at <Moment at={webhook.next_attempt_at} />
        </p>
      )}
    </div>
  </section>
)

const Details = ({ facts: { run, marks, events } }: { facts: RunFacts }) => (
  <Tabs
    id="details"
    label="Details"
    tabs={[
      {
        name: 'Input',
        content: run.input ? (
          <JsonView id="input-json" label="Input" value={run.input} marks={marks} />
        ) : (
          <p class="muted">
            {run.store === false ? 'The input was not kept.' : 'The log is not available now. Try again in a moment.'}
          </p>
        ),
      },
      {
        name: 'Output',
        content:
          run.output || run.error ? (
            <JsonView id="output-json" label="Output" value={run.output ?? run.error} />
          ) : (
            <p class="muted">There is no output yet.</p>
          ),
      },
      { name: 'Events', content: <Events events={events} from={run.created_at} /> },
      { name: 'JSON', content: <JsonView id="run-json" label="The run as the API answers it" value={run} /> },
    ]}
  />
)

const Events = ({ events, from }: { events: RunFacts['events']; from: string }) => (
  <ol class="events">
    {events.map(({ type, revision, metadata, data }) => (
      <li key={revision}>
        <details>
          <summary>
            <span class="mono">{type}</span>
            <span class="faint small">event {revision}</span>
            <span class="faint small num">
              at {duration(Math.max(0, Date.parse(metadata.clock ?? metadata.at) - Date.parse(from)))}
            </span>
          </summary>
          <JsonView id={`event-${revision}`} label={`Event ${revision}`} value={{ at: metadata.at, type, data }} />
        </details>
      </li>
    ))}
  </ol>
)
