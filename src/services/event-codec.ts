import { type DomainEvent, EventMetadata, events } from '../../schemas/events.ts'
import { upcasts } from '../domain/upcasts.ts'
import { createCodec } from '../engine/log/codec.ts'

/** Checks and upcasts every event that the log may hold. */
export const eventCodec = createCodec<DomainEvent>({ events, metadata: EventMetadata, upcasts })
