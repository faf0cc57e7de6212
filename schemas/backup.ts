import { type Static, Type } from 'typebox'
import { Count, Timestamp } from './primitives.ts'

/** What a backup says about itself. */
export const BackupFacts = Type.Object({
  format: Type.Literal(1),
  startedAt: Timestamp,
  /** The last event. */
  position: Count,
  eventId: Type.String(),
  /** The last event of the backup that this one continues; absent from a full backup. */
  since: Type.Optional(Count),
  /** The name of the newest seal. */
  seal: Type.Optional(Type.String()),
})
export type BackupFacts = Static<typeof BackupFacts>
