import { Type } from 'typebox'
import { DAY } from '../primitives.ts'
import { about } from './about.ts'

/** The pattern of a day, or of a time in UTC. */
export const MOMENT = `${DAY}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,3})?)?Z)?`

/** A day or a time in a request. */
export const Moment = (description: string) =>
  about(
    Type.String({ pattern: `^${MOMENT}$` }),
    `A UTC time such as 2026-11-23T18:00:00Z, or a date for its start. ${description}`,
    '2026-11-01',
  )
