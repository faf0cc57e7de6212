import { StaticBody } from '../answers/static-body.ts'
import { init } from './init.ts'
import { style } from './style.ts'
import { readViewerFile, viewerFiles } from './viewer.ts'

/** A file of the page, by its name. */
export const docsFile = async (name: string): Promise<StaticBody | undefined> =>
  own.get(name) ?? (await viewers.get(name)?.())

const own = new Map([
  ['init.js', new StaticBody('text/javascript', init)],
  ['page.css', new StaticBody('text/css', style)],
])

/** Read at the first request, then cached. */
const viewerFile = ({ name, type }: (typeof viewerFiles)[number]) => {
  let body: Promise<StaticBody> | undefined
  return () => {
    if (body) return body
    body = readViewerFile(name).then(text => new StaticBody(type, text))
    body.catch(() => {
      body = undefined
    })
    return body
  }
}

const viewers = new Map(viewerFiles.map(file => [file.name, viewerFile(file)]))
