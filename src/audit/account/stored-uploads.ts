import type { AccountRecord } from '../read-log.ts'

/** `stored`: the client may replace the file. `sealed`: it cannot. `deleting`: the owner has asked to delete it. */
type State = 'stored' | 'sealed' | 'deleting'

export interface StoredUpload {
  uploadId: string
  state: State
  filename: string
  folderPath?: string
  mimeType: string
  objectKey: string
  sizeBytes: number
  sha256: string
  storedAt: string
  willDeleteAt: string
}

type Grant = Omit<StoredUpload, 'state' | 'sizeBytes' | 'sha256' | 'storedAt'>

/** The uploaded files that have not been deleted. */
export class StoredUploads {
  readonly #granted = new Map<string, Grant>()
  readonly #stored = new Map<string, StoredUpload>()

  take({ type, data, metadata }: AccountRecord) {
    switch (type) {
      case 'UploadGranted': {
        const { uploadId, filename, folderPath, mimeType, objectKey, willDeleteAt } = data
        const folder = folderPath !== undefined && { folderPath }
        this.#granted.set(uploadId, { uploadId, filename, ...folder, mimeType, objectKey, willDeleteAt })
        return
      }
      case 'UploadStored': {
        const { uploadId, sizeBytes, sha256, sealed } = data
        const grant = this.#granted.get(uploadId)
        if (!grant) return
        const storedAt = this.#stored.get(uploadId)?.storedAt ?? metadata.at
        this.#stored.set(uploadId, { ...grant, state: sealed ? 'sealed' : 'stored', sizeBytes, sha256, storedAt })
        return
      }
      case 'UploadDeletionRequested': {
        const upload = this.#stored.get(data.uploadId)
        if (upload) upload.state = 'deleting'
        return
      }
      case 'UploadDeleted':
        this.#granted.delete(data.uploadId)
        this.#stored.delete(data.uploadId)
    }
  }

  list(): StoredUpload[] {
    return [...this.#stored.values()]
  }
}
