import type { WebhookDelivery } from '../../../schemas/api/delivery.ts'
import { Button, Form } from '../parts/form.tsx'
import { OwnerOnly, Placed } from '../parts/own.tsx'
import { plural } from '../parts/text.ts'
import { Ago, Moment } from '../parts/time.tsx'
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
        <table>
          <thead>
            <tr>
              <th>Status</th>
              <th>Run</th>
              <th class="hide-small">Receiver</th>
              <th>Attempts</th>
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

const Row = ({ of }: { of: WebhookDelivery }) => {
  const { run_id: id, url, status, attempts, next_attempt_at: nextAt } = of
  const { word, tone } = stateOf(of)
  return (
    <tr>
      <td>
        <span class={`badge ${tone}`}>{word}</span>
        {attempts.at(-1)?.error !== undefined && <div class="small muted">{attempts.at(-1)?.error}</div>}
      </td>
      <td class="mono">
        <Placed>
          {placed => (
            <a href={placed(`/console/runs/${id}`)} title={id} data-item>
              {`${id.slice(0, 8)}…${id.slice(-4)}`}
            </a>
          )}
        </Placed>
      </td>
      <td class="hide-small muted">
        <div class="cut receiver" title={url}>
          {url}
        </div>
      </td>
      <td>
        {attempts.length === 0 ? (
          <span class="muted">none yet</span>
        ) : (
          <details>
            <summary>
              {plural(attempts.length, 'attempt')}, <Ago at={attempts.at(-1)?.at ?? ''} />
            </summary>
            <ol class="attempts small">
              {attempts.map(({ attempt, at, status_code: code, error }) => (
                <li key={`${at}${attempt}`}>
                  <Moment at={at} /> {error ?? `accepted with ${code}`}
                </li>
              ))}
            </ol>
          </details>
        )}
        {nextAt !== undefined && (
          <div class="small faint">
            next at <Moment at={nextAt} />
          </div>
        )}
      </td>
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

const filters: readonly { label: string; value: Status | undefined }[] = [
  { label: 'All', value: undefined },
  { label: 'Delivered', value: 'delivered' },
  { label: 'Pending', value: 'pending' },
  { label: 'Given up', value: 'abandoned' },
]
