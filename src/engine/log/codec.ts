import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Static, TSchema } from 'typebox'
import { nameFormats } from '../../../schemas/names.ts'
import type { AnyEvent, RawEvent, Recorded, Upcast } from '../../../schemas/recorded.ts'
import { Damaged } from '../../ports/faults.ts'

interface CodecDependencies {
  /** The event types that streams of each category may hold. A stream's category is its name up to the first hyphen. */
  events: Record<string, Record<string, TSchema>>
  metadata: TSchema
  /** Applied in this order, so the upcasts of the oldest shapes come first. */
  upcasts: Upcast[]
}

/** Checks events on their way into the log, and upcasts events that are read from the log. */
export interface Codec<Event extends AnyEvent> {
  /** Throws a TypeError for an event that its schema does not allow, which is a bug. */
  checkNew(event: AnyEvent & { stream: string; metadata: unknown }): void
  /** Throws Damaged for an event that no version of this service can have written. */
  decode(raw: RawEvent): Recorded<Event>
}

export const createCodec = <Event extends AnyEvent>({ events, metadata, upcasts }: CodecDependencies): Codec<Event> => {
  const metadataGuard = lazily(metadata)
  const guards = new Map(Object.entries(events).map(([category, shapes]) => [category, lazyGuards(shapes)]))

  const findFault = (event: AnyEvent & { stream: string; metadata: unknown }): string | undefined => {
    const guard = guards.get(categoryOf(event.stream))?.(event.type)
    if (!guard) return 'streams of this category hold no events of this type'
    if (!guard(event.data)) return `data${describe(guard)}`
    const isMetadata = metadataGuard()
    if (!isMetadata(event.metadata)) return `metadata${describe(isMetadata)}`
    return undefined
  }

  return {
    checkNew: event => {
      const fault = findFault(event)
      if (fault) throw new TypeError(`${event.type} cannot be recorded: ${fault}`)
    },
    decode: raw => {
      const event = upcasts.reduce(applied, raw)
      const fault = findFault(event)
      if (fault)
        throw new Damaged(
          [
            `${raw.stream} holds an unreadable ${raw.type} at revision ${raw.revision} (position ${raw.position}):`,
            `${fault}; restore it from a backup`,
          ].join(' '),
        )
      return event as Recorded as Recorded<Event>
    },
  }
}

const applied = (event: RawEvent, upcast: Upcast): RawEvent => {
  const newer = upcast(event)
  return newer ? { ...event, ...newer } : event
}

const categoryOf = (stream: string): string => {
  const end = stream.indexOf('-')
  return end < 0 ? stream : stream.slice(0, end)
}

const lazyGuards = (shapes: Record<string, TSchema>) => {
  const guards = new Map(Object.entries(shapes).map(([type, shape]) => [type, lazily(shape)]))
  return (type: string): ValidateFunction | undefined => guards.get(type)?.()
}

const describe = ({ errors }: ValidateFunction): string => {
  const error = errors?.[0]
  return `${error?.instancePath ?? ''} ${error?.message ?? ''}`
}

const known = { discriminator: true, validateSchema: false, formats: nameFormats }
const shapes = new Ajv2020({ strict: true, allowUnionTypes: true, ...known })

/** Whether a value has a shape, where the faults do not matter. */
export const compileGuard = <Shape extends TSchema>(shape: Shape): ((value: unknown) => value is Static<Shape>) => {
  const guard = lazily(shape)
  return (value): value is Static<Shape> => guard()(value)
}

/** Compiles a guard when it is first needed, so that short commands start quickly. */
const lazily = (shape: TSchema): (() => ValidateFunction) => {
  let guard: ValidateFunction | undefined
  return () => {
    guard ??= shapes.compile(shape)
    return guard
  }
}
