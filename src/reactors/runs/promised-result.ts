import type { OutputType } from '../../../schemas/catalog.ts'
import { outputTypeOf } from '../../domain/catalog/family.ts'
import type { Done } from '../../ports/provider.ts'
import { UnfitResult } from './result-file.ts'

/** What an endpoint promises for an input: so many files, or a text. */
export interface PromisedResult {
  type: OutputType
  files: number
}

/** Only images can be more than one. The price counts them. */
export const promisedResult = async (
  endpoint: string,
  readInput: () => Promise<Record<string, unknown>>,
): Promise<PromisedResult> => {
  const type = outputTypeOf(endpoint)
  if (type !== 'image') return { type, files: type === 'text' ? 0 : 1 }
  const { num_images: files = 1 } = await readInput()
  return { type, files: Number(files) }
}

/**
 * The part of a result that was promised. The whole is charged, so less is no success. Throws UnfitResult if a file is
 * missing or there is no text. A text beside files is optional.
 */
export const promisedPart = ({ media, text }: Pick<Done, 'media' | 'text'>, { type, files }: PromisedResult) => {
  if (media.length < files) throw new UnfitResult(`The provider returned ${media.length} of ${files} files.`)
  if (type === 'text' && !text?.trim()) throw new UnfitResult('The provider returned no text.')
  return { media: media.slice(0, files), text }
}
