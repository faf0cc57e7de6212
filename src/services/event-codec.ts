import { type DomainEvent, EventMetadata, events } from '../../schemas/events.ts'
import { upcasts } from '../domain/upcasts.ts'
import { createCodec } from '../engine/log/codec.ts'

/** Checks and upcasts all events of the log. */
export const eventCodec = createCodec<DomainEvent>({ events, metadata: EventMetadata, upcasts })
