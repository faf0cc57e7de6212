import { type Static, Type } from 'typebox'
import { Line } from './names.ts'
import { Closed, KeyId, OneOf, SessionId, Tagged } from './primitives.ts'

/** The longest name of an operator or auditor. Every event contains the name, so it must be short. */
export const MAX_ACTOR_NAME_LENGTH = 64

/** Printable, so that a name cannot hide or break a line of a report. */
export const ActorName = Line(MAX_ACTOR_NAME_LENGTH)

/** The caller that caused an event. */
export const Actor = Tagged(
  'kind',
  Closed({ kind: Type.Literal('key'), keyId: KeyId }),
  Closed({ kind: Type.Literal('session'), sessionId: SessionId }),
  // The oldest events of operators have no name.
  Closed({ kind: Type.Literal('operator'), name: Type.Optional(ActorName) }),
  Closed({ kind: Type.Literal('auditor'), name: ActorName }),
  Closed({ kind: OneOf('reactor', 'service') }),
)
export type Actor = Static<typeof Actor>

/** `full`: everything except managing keys; `read`: only reading; `keys`: only managing keys. */
export const KEY_SCOPES = ['full', 'read', 'keys'] as const
export const KeyScope = OneOf(...KEY_SCOPES)
export type KeyScope = Static<typeof KeyScope>
