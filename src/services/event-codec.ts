import { Subject } from 'rxjs'
import { type DomainEvent, EventMetadata, events } from '../../schemas/events.ts'
import { upcasts } from '../domain/upcasts.ts'
import { createCodec } from '../engine/log/codec.ts'
import type { NewerLog } from '../ports/faults.ts'
import { withoutPersonal } from './vault/personal-data.ts'

/** Emits when this process meets an event of a newer version, which an older service must not go on beside. */
export const newerEvents = new Subject<NewerLog>()

/** Checks and upcasts all events of the log. */
export const eventCodec = createCodec<DomainEvent>({
  events,
  metadata: EventMetadata,
  upcasts: [withoutPersonal, ...upcasts],
  onNewer: error => newerEvents.next(error),
})
