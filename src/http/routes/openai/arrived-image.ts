import type { UploadForm } from '../../../../schemas/api/upload.ts'
import type { UploadRow } from '../../../../schemas/views.ts'
import { Unavailable } from '../../../ports/faults.ts'
import type { ArrivedFile } from '../../../services/runs/runs.ts'
import type { IncomingUpload } from '../../../services/uploads/incoming-upload.ts'
import { unwrap } from '../../../transports/refusals.ts'
import type { Context } from '../../context.ts'
import type { RouteDependencies } from '../../dependencies.ts'

/** An image that has arrived in a form, for a run. If its upload cannot be deleted now, its retention ends later. */
interface ArrivedImage extends ArrivedFile {
  /** Stands for the image until it is stored. Throws invalid_input for a file that no run could use. */
  address(): Promise<string>
  /** Discards the image unless it is stored. */
  end(): Promise<void>
}

export const arrivedImage = (
  { state: { caller } }: Context,
  { uploads, present }: Pick<RouteDependencies, 'uploads' | 'present'>,
  image: IncomingUpload,
  named: UploadForm,
): ArrivedImage => {
  let isOpen = true
  let stored: UploadRow | undefined
  const end = async () => {
    const wasOpen = isOpen
    isOpen = false
    if (wasOpen) await image.discard()
  }
  return {
    parameter: 'image_url',
    address: async () => `https://image.invalid/${unwrap(await image.checkInput('image_url')).sha256}`,
    store: async isNameKept => {
      isOpen = false
      const kept = await image.finish(isNameKept ? named : {})
      if ('refuse' in kept) return kept
      stored = kept.value
      return { value: present.upload(stored).url }
    },
    drop: async () => {
      await end()
      if (stored) await uploads.delete(caller, stored.uploadId).catch(ignoreUnavailable)
    },
    end,
  }
}

const ignoreUnavailable = (error: unknown) => {
  if (!(error instanceof Unavailable)) throw error
}
