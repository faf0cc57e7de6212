import { userInfo } from 'node:os'
import { type Command, InvalidArgumentError } from 'commander'
import { ActorName, MAX_ACTOR_NAME_LENGTH } from '../../schemas/actor.ts'
import { normalized } from '../../schemas/names.ts'
import { compileGuard } from '../engine/log/codec.ts'
import type { Caller } from '../services/caller.ts'
import { OperatorError } from './operator-error.ts'

/** The operator who runs a command: the name in `--as`, or else the system user. Throws OperatorError. */
export const operatorOf = (command: Command): Caller => {
  const { as = systemUser() } = command.optsWithGlobals<{ as?: string }>()
  return { kind: 'operator', name: as }
}

export const parseOperator = (text: string): string => {
  const name = normalized(text)
  if (!isName(name)) throw new InvalidArgumentError(RULE)
  return name
}

const RULE = `The name must have 1 to ${MAX_ACTOR_NAME_LENGTH} printable characters.`

const isName = compileGuard(ActorName)

const systemUser = (): string => {
  const name = systemName()
  if (name === undefined)
    throw new OperatorError('The name of the system user cannot be recorded. Name the operator with --as NAME.')
  return name
}

/** In a container, the user ID may have no name. */
const systemName = (): string | undefined => {
  try {
    const { username } = userInfo()
    return isName(username) ? username : undefined
  } catch {
    return undefined
  }
}
