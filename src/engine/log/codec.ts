import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { TSchema } from 'typebox'
import { events, Metadata, type RawEvent, type Recorded } from '../../../schemas/recorded.ts'
import { Damaged } from '../../ports/faults.ts'
import { compileGuard } from '../validator.ts'

/** Turns the shape that an event type once had into the next one. A type may have several, from the oldest on. */
export type Upcast = (old: { type: string; data: unknown }) => { type: string; data: unknown } | undefined

/**
 * The one place where old shapes of events become the present one. Each upcast looks at an event and answers with its
 * newer form, or with undefined when the event is not of the old form. So far no shape has ever changed.
 */
const upcasts: Upcast[] = []

const shapes = new Map<string, TSchema>(Object.entries(events))
/** Those that were needed so far. */
const guards = new Map<string, ValidateFunction>()
const isMetadata = compileGuard(Metadata)

/** An event as it may enter the log. Throws a TypeError for one that its schema does not allow: that is a bug. */
export const checkNew = (event: { type: string; data: unknown; metadata: unknown }): void => {
  const fault = findFault(event)
  if (fault) throw new TypeError(`${event.type} may not be recorded: ${fault}`)
}

/** An event from the log in its present shape. Throws Damaged for one that no version of us can have written. */
export const decode = (raw: RawEvent, steps: Upcast[] = upcasts): Recorded => {
  const event = steps.length === 0 ? raw : { ...raw, ...upcast(raw, steps) }
  const fault = findFault(event)
  if (fault) throw new Damaged(`${raw.stream} holds an unreadable ${raw.type} at revision ${raw.revision}: ${fault}`)
  return event as Recorded
}

const upcast = ({ type, data }: RawEvent, steps: Upcast[]) =>
  steps.reduce((event, step) => step(event) ?? event, { type, data })

const findFault = ({
  type,
  data,
  metadata,
}: {
  type: string
  data: unknown
  metadata: unknown
}): string | undefined => {
  const guard = guards.get(type) ?? compileGuardOf(type)
  if (!guard) return 'the type is not known'
  if (!guard(data)) return `data${describe(guard)}`
  if (!isMetadata(metadata)) return `metadata${describe(isMetadata)}`
  return undefined
}

const compileGuardOf = (type: string): ValidateFunction | undefined => {
  const shape = shapes.get(type)
  if (!shape) return undefined
  const guard = compileGuard(shape)
  guards.set(type, guard)
  return guard
}

const describe = ({ errors }: ValidateFunction): string => {
  const error = errors?.[0]
  return `${error?.instancePath ?? ''} ${error?.message ?? ''}`
}
