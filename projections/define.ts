import type { DomainEvent } from '../schemas/events.ts'
import type { Recorded } from '../schemas/recorded.ts'
import type { ViewName, Views } from '../schemas/views.ts'
import type { Projection } from './projection.ts'

export type EventType = DomainEvent['type']

/** A recorded event of one of the types given. */
export type RecordedOf<Type extends EventType> = Recorded<Extract<DomainEvent, { type: Type }>>

interface Definition<Name extends ViewName, Type extends EventType> {
  /** Defaults to the view's name. */
  name?: string
  view: Name
  version: number
  key(event: RecordedOf<Type>): string | readonly string[] | undefined
  on: {
    [Each in Type]: (row: Views[Name] | undefined, event: RecordedOf<Each>, key: string) => Views[Name] | undefined
  }
  indexes?: { [index: string]: (row: Views[Name], key: string) => string | undefined }
}

/** A projection with its events and rows checked against the schemas. */
export const projection = <Name extends ViewName, Type extends EventType>({
  name,
  indexes = {},
  ...definition
}: Definition<Name, Type>): Projection<Views[Name], Type> =>
  ({ name: name ?? definition.view, indexes, ...definition }) as unknown as Projection<Views[Name], Type>

/** Folds the events that change a row into it. All of them must concern this row alone. */
export const fold = <Row extends object>(
  { key, on }: Projection<Row>,
  events: Recorded[],
  row?: Row,
): Row | undefined =>
  events.reduce((before, event) => {
    const [evolve, changed] = [on[event.type], key(event)]
    return evolve && typeof changed === 'string' ? evolve(before, event, changed) : before
  }, row)
