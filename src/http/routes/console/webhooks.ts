import type Router from '@koa/router'
import { DeliveriesQuery, WebhookTestRequest } from '../../../../schemas/api/delivery.ts'
import { WebhooksPage, type WebhooksProps } from '../../../console/webhooks/webhooks-page.tsx'
import { modeOf, type SessionOwner } from '../../../services/caller.ts'
import { deliveryItem, testItem } from '../../../services/webhooks/deliveries.ts'
import type { SigningSecret } from '../../../services/webhooks/webhooks.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { readerOf } from '../../../transports/validate.ts'
import { redirect, showError, showPage } from '../../answers/page-answers.ts'
import { waitingClient } from '../../connections/disconnect.ts'
import type { Context, RequestState } from '../../context.ts'
import { formField } from '../../middleware/pages.ts'
import type { PageDependencies } from './dependencies.ts'

const WEBHOOKS = '/console/webhooks'

/** Deliveries on a page. */
const PER_PAGE = 25

const readQuery = readerOf(DeliveriesQuery, 'query')
const readTest = readerOf(WebhookTestRequest, 'form')

/** The webhooks of an account, for its owner. */
export const webhookPages = (router: Router<RequestState>, { services, forOwner }: PageDependencies) => {
  const { webhooks, webhookTests, deliveries } = services

  const page = async (ctx: Context, owner: SessionOwner, more: Partial<WebhooksProps> = {}) => {
    const { status, cursor } = readQuery(ctx.method === 'GET' ? { ...ctx.query } : {})
    const asked = { limit: PER_PAGE, ...(status && { status }), ...(cursor && { cursor }) }
    const { found, next } = unwrap(await deliveries.list(owner, asked, waitingClient(ctx)))
    const query = new URLSearchParams({ ...(status && { status }), cursor: next ?? '' })
    return WebhooksPage({
      ...{ deliveries: found.map(deliveryItem), status, next: next === null ? undefined : `${WEBHOOKS}?${query}` },
      ...{ rotates: modeOf(owner).livemode !== false, test: { url: '' }, ...more },
    })
  }

  router.get(
    WEBHOOKS,
    forOwner(async (ctx, owner) => showPage(ctx, await page(ctx, owner))),
  )

  // The secret is on a page only once it was asked for by a form, which no other site can send.
  router.post(
    `${WEBHOOKS}/secret`,
    forOwner(async (ctx, owner) => {
      const secret = unwrap(await webhooks.secret(owner))
      showPage(ctx, await page(ctx, owner, { secret: shown(secret) }))
    }),
  )

  router.post(
    `${WEBHOOKS}/secret/rotate`,
    forOwner(async (ctx, owner) => {
      const secret = unwrap(await webhooks.rotateSecret(owner, owner.accountId))
      showPage(ctx, await page(ctx, owner, { secret: shown(secret) }))
    }),
  )

  router.post(
    `${WEBHOOKS}/test`,
    forOwner(async (ctx, owner) => {
      const url = formField(ctx, 'url').trim()
      try {
        const result = testItem(unwrap(await webhookTests.send(owner, readTest({ url }).url)))
        showPage(ctx, await page(ctx, owner, { test: { url, result } }))
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const faulty = await page(ctx, owner, { test: { url, fault: error.message } })
        showError(ctx, error, () => faulty)
      }
    }),
  )

  router.post(
    `${WEBHOOKS}/:run/resend`,
    forOwner(async (ctx, owner) => {
      unwrap(await deliveries.resend(owner, String(ctx['params'].run)))
      redirect(ctx, `${WEBHOOKS}#deliveries`)
    }),
  )
}

const shown = ({ secret, previousUntil }: SigningSecret) => ({ text: secret, previousUntil })
