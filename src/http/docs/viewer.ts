import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

/** The files of the viewer that the page needs, and the license file that its script refers to. */
export const viewerFiles = [
  { name: 'swagger-ui.css', type: 'text/css' },
  { name: 'swagger-ui-bundle.js', type: 'text/javascript' },
  { name: 'swagger-ui-bundle.js.LICENSE.txt', type: 'text/plain' },
]

export const readViewerFile = (name: string): Promise<string> =>
  readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`), 'utf8')
