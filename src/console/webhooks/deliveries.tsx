import type { WebhookDelivery } from '../../../schemas/api/delivery.ts'
import { Button, Form } from '../parts/form.tsx'
import { OwnerOnly, Placed } from '../parts/own.tsx'
import { plural } from '../parts/text.ts'
import { Moment, Until } from '../parts/time.tsx'
import { stateOf } from './delivery-words.ts'

type Status = WebhookDelivery['status']

export interface DeliveriesProps {
  deliveries: readonly WebhookDelivery[]
  status: Status | undefined
  /** The address of the next page. */
  next: string | undefined
}

/** The webhooks of runs with their attempts, the newest run first. */
export const Deliveries = ({ deliveries, status, next }: DeliveriesProps) => (
  <section class="card">
    <div class="head">
      <h2 id="deliveries">Deliveries</h2>
      <OwnerOnly>
        <nav class="segments" aria-label="Status">
          {filters.map(({ label, value }) => (
            <a
              key={label}
              href={value ? `/console/webhooks?status=${value}#deliveries` : '/console/webhooks#deliveries'}
              {...(status === value && { 'aria-current': 'page' as const })}
            >
              {label}
            </a>
          ))}
        </nav>
      </OwnerOnly>
    </div>
    {deliveries.length === 0 ? (
      <p class="pad muted">
        {status ? 'No delivery is in this state.' : 'No delivery yet. Send a run with a webhook_url.'}
      </p>
    ) : (
      <section class="scroll" aria-label="Deliveries" tabindex={0}>
        <table class="fold deliveries">
          <thead>
            <tr>
              <th>Receiver</th>
              <th>Status</th>
              <th>Last answer</th>
              <th>Attempts</th>
              <th>Run</th>
              <th>
                <span class="visually-hidden">Action</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {deliveries.map(delivery => (
              <Row key={delivery.run_id} of={delivery} />
            ))}
          </tbody>
        </table>
      </section>
    )}
    {next !== undefined && (
      <p class="pad">
        <a class="button" href={next}>
          Older deliveries
        </a>
      </p>
    )}
  </section>
)

/** Phones show the attempts on the page of the run, which the receiver leads to. */
const Row = ({ of }: { of: WebhookDelivery }) => {
  const { run_id: id, url, status, attempts, next_attempt_at: nextAt } = of
  const { word, tone } = stateOf(of)
  const last = attempts.at(-1)
  return (
    <tr>
      <td class="receiver">
        <div class="cut" title={url}>
          <Placed>
            {placed => (
              <a href={placed(`/console/runs/${id}`)} data-item>
                <Address url={url} />
              </a>
            )}
          </Placed>
        </div>
      </td>
      <td class="state">
        <span class={`badge ${tone}`}>{word}</span>
        {nextAt !== undefined && (
          <span class="small muted">
            next <Until at={nextAt} />
          </span>
        )}
      </td>
      <td class="reason muted">
        {last && (
          <div class="cut" title={answerTo(last)}>
            {answerTo(last)}
          </div>
        )}
      </td>
      <td class="hide-small muted">
        {last ? (
          <details>
            <summary>{plural(attempts.length, 'attempt')}</summary>
            <ol class="attempts small">
              {attempts.map(each => (
                <li key={`${each.at}${each.attempt}`}>
                  <Moment at={each.at} /> {answerTo(each)}
                </li>
              ))}
            </ol>
          </details>
        ) : (
          'none yet'
        )}
      </td>
      <td class="mono muted hide-small" title={id}>{`${id.slice(0, 8)}…${id.slice(-4)}`}</td>
      <td class="num">
        {(status === 'delivered' || status === 'abandoned') && (
          <Form action={`/console/webhooks/${id}/resend`}>
            <Button class="quiet" aria-label={`Send again: the webhook of ${id}`}>
              Send again
            </Button>
          </Form>
        )}
      </td>
    </tr>
  )
}

/** The host stands out. */
const Address = ({ url }: { url: string }) => {
  if (!URL.canParse(url)) return <>{url}</>
  const { protocol, host, pathname, search } = new URL(url)
  return (
    <>
      {protocol !== 'https:' && <span class="faint hide-small">{`${protocol}//`}</span>}
      <strong>{host}</strong>
      <span class="muted hide-small">{pathname + search}</span>
    </>
  )
}

const answerTo = ({ error, status_code: code }: WebhookDelivery['attempts'][number]): string =>
  error?.replace(/\.$/, '') ?? `Accepted with ${code}`

const filters: readonly { label: string; value: Status | undefined }[] = [
  { label: 'All', value: undefined },
  { label: 'Delivered', value: 'delivered' },
  { label: 'Failing', value: 'pending' },
  { label: 'Abandoned', value: 'abandoned' },
]
