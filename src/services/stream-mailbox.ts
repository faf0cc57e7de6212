import type { AnyEvent } from '../../schemas/recorded.ts'
import type { Decider } from '../domain/decider.ts'
import { Mailbox } from '../engine/streams/mailbox.ts'
import type { Snapshots } from '../engine/streams/snapshots.ts'
import { Streams } from '../engine/streams/stream.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Logger } from '../ports/logger.ts'
import type { Random } from '../ports/random.ts'
import { eventCodec } from './event-codec.ts'

/** The dependencies for reading and extending a stream. */
export interface StreamDependencies {
  log: EventLog
  clock: Clock
  random: Random
  logger: Logger
}

/** The mailbox of a stream that is unique, such as the catalog. */
export const mailboxOf = <Command, State, Event extends AnyEvent, Refusal>(
  stream: string,
  decider: Decider<Command, State, Event, Refusal>,
  dependencies: StreamDependencies & { snapshots?: Snapshots<State> },
): Mailbox<Command, State, Event, Refusal> =>
  new Mailbox(stream, new Streams({ decider, codec: eventCodec, ...dependencies }))
