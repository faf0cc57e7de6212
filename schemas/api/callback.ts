import { Type } from 'typebox'
import { about } from './about.ts'
import { RunId } from './common.ts'

export const callbackPlace = {
  provider: about(Type.String(), 'The provider that sends the callback.', 'fal'),
}

/** Providers may add parameters of their own. */
export const CallbackQuery = Type.Object({ run: Type.Optional(RunId) })

/** The body as bytes and not as JSON, because signatures cover the bytes. */
export const CallbackBody = Type.Unsafe<Blob>({ contentMediaType: 'application/json' })
