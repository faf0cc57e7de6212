import type { WebhookDelivery, WebhookTest } from '../../../schemas/api/delivery.ts'
import { Code } from '../parts/code.tsx'
import { Button, Field, Form, faulty } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { duration } from '../parts/text.ts'
import { Moment } from '../parts/time.tsx'
import { Shell } from '../shell.tsx'
import { Deliveries, type DeliveriesProps } from './deliveries.tsx'

export interface WebhooksProps extends DeliveriesProps {
  deliveries: readonly WebhookDelivery[]
  /** The secret, if the person has asked for it. */
  secret?: { text: string; previousUntil: string | undefined } | undefined
  /** Whether a new secret can be made. There is none for test mode. */
  rotates: boolean
  test: TestProps
}

interface TestProps {
  url: string
  fault?: string | undefined
  result?: WebhookTest
}

/** The secret of webhooks, a test of the receiver, and what was delivered. */
export const WebhooksPage = ({ secret, rotates, test, ...deliveries }: WebhooksProps) => (
  <Shell title="Webhooks">
    <div class="page stack">
      <p class="muted">
        The service sends each run that has a <code>webhook_url</code> there when it ends, signed with your secret.
      </p>
      <div class="halves">
        <section class="card" aria-labelledby="secret-title">
          <div class="head">
            <h2 id="secret-title">Signing secret</h2>
          </div>
          <div class="pad stack">
            {secret && <Secret {...secret} />}
            <p class="muted">
              Your receiver <a href="/docs/webhooks#receiving">verifies webhooks</a> with it.
            </p>
            <div class="row wrap">
              {!secret && (
                <Form action="/console/webhooks/secret">
                  <Button>Show the secret</Button>
                </Form>
              )}
              {rotates && secret?.previousUntil === undefined && (
                <Form action="/console/webhooks/secret/rotate">
                  <Button class="quiet">
                    <Icon name="rotate-cw" />
                    Rotate the secret
                  </Button>
                </Form>
              )}
            </div>
            {rotates && secret?.previousUntil === undefined && (
              <p class="hint">For a day after a rotation, the old secret signs too, so that receivers can follow.</p>
            )}
          </div>
        </section>
        <TestCard {...test} />
      </div>
      <Deliveries {...deliveries} />
    </div>
  </Shell>
)

const Secret = ({ text, previousUntil }: { text: string; previousUntil: string | undefined }) => (
  <>
    <div data-shown-once="/console/webhooks">
      <Code id="secret" label="The secret">
        {text}
      </Code>
    </div>
    {previousUntil !== undefined && (
      <p class="note">
        The secret before signs too until <Moment at={previousUntil} />. Until then, it cannot be rotated again.
      </p>
    )}
  </>
)

const TestCard = ({ url, fault, result }: TestProps) => (
  <section class="card" aria-labelledby="test">
    <div class="head">
      <h2 id="test">Test your receiver</h2>
    </div>
    <div class="pad stack">
      <Form action="/console/webhooks/test" class="stack">
        <Field id="url" label="URL" fault={fault}>
          <input
            id="url"
            name="url"
            type="url"
            required
            maxlength={2048}
            placeholder="https://example.com/hooks/tollgate"
            value={url}
            {...faulty('url', fault)}
          />
        </Field>
        <div class="row">
          <Button>Send a test</Button>
        </div>
      </Form>
      {result && (
        <p class={result.delivered ? 'note good' : 'fault'} role="status">
          {`${result.message} It took ${duration(result.latency_ms)}.`}
        </p>
      )}
    </div>
  </section>
)
