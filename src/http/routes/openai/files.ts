import type { Readable } from 'node:stream'
import type { Artifact } from '../../../../schemas/account-events.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { unwrap } from '../../../transports/refusals.ts'
import type { Context } from '../../context.ts'
import type { RouteDependencies } from '../../dependencies.ts'

/** Opens files of a run, and returns functions that begin to read each. Throws if one was deleted. */
export const openFiles = (ctx: Context, { files }: Pick<RouteDependencies, 'files'>, artifacts: Artifact[]) =>
  Promise.all(
    artifacts.map(async ({ objectKey }): Promise<() => Promise<Readable>> => {
      const { caller } = ctx.state
      const facts = unwrap(await files.stat(caller, objectKey))
      if (!facts) throw filesDeleted()
      return async () => unwrap(await files.read(caller, objectKey, facts))
    }),
  )

/** The answer to a repeated request whose run has no files any more. */
export const filesDeleted = () => new ApiError('not_found', 'The files of the run were deleted.')

/** The text of a file in Base64, piece by piece. */
export async function* base64Of(file: Readable): AsyncGenerator<string> {
  // Three bytes make four characters.
  let rest = Buffer.alloc(0)
  for await (const piece of file) {
    const bytes = Buffer.concat([rest, piece as Uint8Array])
    const whole = bytes.length - (bytes.length % 3)
    yield bytes.toString('base64', 0, whole)
    rest = bytes.subarray(whole)
  }
  yield rest.toString('base64')
}
