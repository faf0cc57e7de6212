import { Type } from 'typebox'
import { about } from './about.ts'
import { RunId } from './common.ts'

export const callbackPlace = {
  provider: about(Type.String(), 'The provider that sends the callback.', 'fal'),
}

/** Providers may add parameters of their own. */
export const CallbackQuery = Type.Object({ run: Type.Optional(RunId) })

/** Signatures cover the bytes, so it is read before it is parsed. */
export const CallbackBody = Type.Unsafe<Blob>({ contentMediaType: 'application/json' })
