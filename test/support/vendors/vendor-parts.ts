import { createServer } from 'node:net'
import type { Test } from 'tap'
import { openVendorRequests } from '../../../src/adapters/outbound/vendor-requests.ts'
import type { VendorDependencies } from '../../../src/adapters/provider/vendor.ts'
import { type InputMedia, InputMediaError, type UseInputMedia } from '../../../src/ports/input-media.ts'

/** A picture by its address; whatever else a job names is unusable. */
export const picture = { fileUrl: 'https://example.com/picture.png' }
export const pictureBytes = Buffer.from('a picture')

/** The means of an adapter, with the fetch of the service. */
export const vendorDependencies = (t: Test, baseUrl: string, key: string): VendorDependencies => {
  const { request, close } = openVendorRequests({ memoryBytes: 1e8 })
  t.teardown(close)
  return {
    key,
    baseUrl,
    request,
    useInputMedia: ({ url }, _signal, use) => {
      if (url !== picture.fileUrl) return Promise.reject(new InputMediaError('The address returned text/html.'))
      return use({ mimeType: 'image/png', bytes: pictureBytes })
    },
  }
}

/** Takes this file for every file of an input. */
export const useFile =
  (file: InputMedia): UseInputMedia =>
  (_source, _signal, use) =>
    use(file)

/** An address at which nobody listens. */
export const deadAddress = async (): Promise<string> => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return `http://127.0.0.1:${port}`
}
