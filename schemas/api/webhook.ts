import { type Static, Type } from 'typebox'
import { Closed, OneOf, Timestamp } from '../primitives.ts'
import { Run } from './run.ts'

/** What a receiver is sent when a run has ended, as Standard Webhooks shapes it. The time is that of the end. */
export const WebhookEvent = Closed({ type: OneOf('run.completed', 'run.failed'), timestamp: Timestamp, data: Run })
export type WebhookEvent = Static<typeof WebhookEvent>

/** With what an account's receivers check that it was us. */
export const WebhookSecret = Closed({ object: Type.Literal('webhook_secret'), secret: Type.String() })
export type WebhookSecret = Static<typeof WebhookSecret>
