import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Static, TSchema } from 'typebox'
import { nameFormats } from '../../../schemas/names.ts'
import type { AnyEvent, RawEvent, Recorded, Upcast } from '../../../schemas/recorded.ts'
import { Damaged, NewerLog } from '../../ports/faults.ts'
import { FORMAT } from './hash-chain.ts'

interface CodecDependencies {
  /** The event types that streams of each category may hold. A stream's category is its name up to the first hyphen. */
  events: Record<string, Record<string, TSchema>>
  metadata: TSchema
  /** Applied in this order, so the upcasts of the oldest shapes come first. */
  upcasts: Upcast[]
  /** Called before `decode` throws NewerLog. */
  onNewer?: (error: NewerLog) => void
}

/** Checks events on their way into the log, and upcasts events that are read from the log. */
export interface Codec<Event extends AnyEvent> {
  /** Throws a TypeError for an event that its schema does not allow, which is a bug. */
  checkNew(event: AnyEvent & { stream: string; metadata: unknown }): void
  /** Throws NewerLog or Damaged for an event that this version of the service cannot have written. */
  decode(raw: RawEvent): Recorded<Event>
}

export const createCodec = <Event extends AnyEvent>({
  events,
  metadata,
  upcasts,
  onNewer,
}: CodecDependencies): Codec<Event> => {
  const metadataGuard = lazily(metadata)
  const guards = new Map(Object.entries(events).map(([category, shapes]) => [category, lazyGuards(shapes)]))

  const findFault = (event: AnyEvent & { stream: string; metadata: unknown }): Fault | undefined => {
    const format = formatOf(event.metadata)
    if (format > FORMAT)
      return { text: `it has ledger format ${format}, and this version knows none above ${FORMAT}`, isNewer: true }
    const guard = guards.get(categoryOf(event.stream))?.(event.type)
    if (!guard) return { text: 'streams of this category hold no events of this type', isNewer: true }
    if (!guard(event.data)) return faultOf('data', guard)
    const isMetadata = metadataGuard()
    if (!isMetadata(event.metadata)) return faultOf('metadata', isMetadata)
    return undefined
  }

  return {
    checkNew: event => {
      const fault = findFault(event)
      if (fault) throw new TypeError(`${event.type} cannot be recorded: ${fault.text}`)
    },
    decode: raw => {
      const event = upcasts.reduce(applied, raw)
      const fault = findFault(event)
      if (!fault) return event as Recorded as Recorded<Event>
      const place = `${raw.type} at revision ${raw.revision} (position ${raw.position})`
      const found = `${raw.stream} holds an unreadable ${place}: ${fault.text}`
      if (!fault.isNewer) throw new Damaged(`${found}; restore it from a backup`)
      const newer = new NewerLog(`${found}; start the newer version that wrote it, or restore it from a backup`)
      onNewer?.(newer)
      throw newer
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

/** What is wrong with an event. A newer version may have more formats, types and fields. */
interface Fault {
  text: string
  isNewer: boolean
}

const formatOf = (metadata: unknown): number => Number((metadata as { format?: unknown } | null)?.format ?? 1)

const faultOf = (part: string, { errors }: ValidateFunction): Fault => {
  const error = errors?.[0]
  return {
    text: `${part}${error?.instancePath ?? ''} ${error?.message ?? ''}`,
    isNewer: error?.keyword === 'additionalProperties',
  }
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
